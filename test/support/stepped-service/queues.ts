import {
  ConflictException,
  CreateScheduleCommand,
  SchedulerClient,
} from '@aws-sdk/client-scheduler'
import {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { queueRows } from '../../../infra/definitions/queues.ts'
import { authorizeCallsOf } from '../../../sandbox/authorizer.ts'
import { messages, type QueueName } from '../../../shared/queues/messages.ts'
import { queueUrlVariable } from '../../../shared/runtime.ts'
import type { Workers } from './workers.ts'

/** SQS and EventBridge Scheduler in memory, by a clock that the test moves. */

export type Queued = {
  id: string
  queue: QueueName
  body: string
  /** Epoch milliseconds. */
  visibleAt: number
  receives: number
}

export type Schedule = { name: string; at: number; queue: QueueName; body: string }

const arnOf = (queue: QueueName): string => `arn:aws:sqs:eu-west-1:000000000000:${queue}`

/** Of an ARN or a URL. */
const queueIn = (text = ''): QueueName => text.split(/[:/]/).at(-1) as QueueName

const rowOf = (queue: QueueName) => {
  const row = queueRows.find(({ name }) => name === queue)
  if (!row) throw new Error(`There is no queue ${queue}`)
  return row
}

for (const queue of Object.keys(messages)) {
  process.env[queueUrlVariable(queue)] = `https://sqs.test/000000000000/${queue}`
}
Object.assign(process.env, {
  SCHEDULE_GROUP: 'debits',
  SCHEDULE_ROLE_ARN: 'arn:aws:iam::000000000000:role/scheduler',
  SCHEDULE_TARGET_ARN: arnOf('expiries'),
})

type Around = {
  workers: Workers
  now: () => number
  /** How often what was sent arrives: once, or twice, or never. */
  copies: (sent: { queue: QueueName; body: string } | { schedule: string }) => number
}

export type Queues = ReturnType<typeof newQueues>

export const newQueues = ({ workers, now, copies }: Around) => {
  const queued: Queued[] = []
  const schedules: Schedule[] = []
  const deadLetters: Queued[] = []
  let count = 0

  const put = (queue: QueueName, body: string, delaySeconds = 0): void => {
    for (let copy = copies({ queue, body }); copy > 0; copy -= 1) {
      count += 1
      const visibleAt = now() + delaySeconds * 1000
      queued.push({ id: `message-${count}`, queue, body, visibleAt, receives: 0 })
    }
  }

  const sqs = mockClient(SQSClient)
  sqs.on(SendMessageCommand).callsFake(({ QueueUrl, MessageBody, DelaySeconds }) =>
    workers.effect(`send ${queueIn(QueueUrl)}`, async () => {
      put(queueIn(QueueUrl), MessageBody, DelaySeconds)
      return {}
    }),
  )
  sqs.on(SendMessageBatchCommand).callsFake(({ QueueUrl, Entries }) =>
    workers.effect(`send ${queueIn(QueueUrl)}`, async () => {
      for (const { MessageBody, DelaySeconds } of Entries) {
        put(queueIn(QueueUrl), MessageBody, DelaySeconds)
      }
      return {}
    }),
  )
  sqs.on(ChangeMessageVisibilityCommand).callsFake(async ({ ReceiptHandle, VisibilityTimeout }) => {
    const hidden = queued.find(({ id }) => id === ReceiptHandle)
    if (hidden) hidden.visibleAt = now() + VisibilityTimeout * 1000
    return {}
  })
  mockClient(SchedulerClient)
    .on(CreateScheduleCommand)
    .callsFake(({ Name, ScheduleExpression, Target }) =>
      workers.effect(`schedule ${Name.replace(/^.*-/, '')}`, async () => {
        if (schedules.some(({ name }) => name === Name)) {
          throw new ConflictException({ $metadata: {}, message: 'exists', Message: 'exists' })
        }
        const at = Date.parse(`${ScheduleExpression.slice('at('.length, -1)}Z`)
        const schedule = { name: Name, at, queue: queueIn(Target.Arn), body: Target.Input }
        for (let copy = copies({ schedule: Name }); copy > 0; copy -= 1) schedules.push(schedule)
        return {}
      }),
    )

  for (const { prototype } of [SQSClient, SchedulerClient]) authorizeCallsOf(prototype)

  return {
    queued,
    schedules,
    deadLetters,
    put,
    /** Hides some messages of a queue from others, as one who receives them does. */
    receive: (taken: readonly Queued[]): SQSRecord[] =>
      taken.map((message) => {
        message.receives += 1
        message.visibleAt = now() + rowOf(message.queue).visibilitySeconds * 1000
        return recordOf(message)
      }),
    /** Takes away what was done, and what came too often. */
    settle: (taken: readonly Queued[], failed: ReadonlySet<string>): void => {
      for (const message of taken) {
        const isLast = message.receives >= rowOf(message.queue).maxReceiveCount
        if (failed.has(message.id) && !isLast) continue
        queued.splice(queued.indexOf(message), 1)
        if (failed.has(message.id)) deadLetters.push(message)
      }
    },
    /** Has the schedules put their messages whose time has come. */
    ring: (): void => {
      for (const due of schedules.filter(({ at }) => at <= now())) {
        schedules.splice(schedules.indexOf(due), 1)
        put(due.queue, due.body)
      }
    },
  }
}

const recordOf = ({ id, queue, body, receives }: Queued): SQSRecord =>
  ({
    messageId: id,
    receiptHandle: id,
    body,
    attributes: { ApproximateReceiveCount: String(receives) },
    eventSource: 'aws:sqs',
    eventSourceARN: arnOf(queue),
  }) as SQSRecord
