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

/** SQS and EventBridge Scheduler in memory. Times are epoch milliseconds of the test's clock. */

export type Message = {
  id: string
  queue: QueueName
  body: string
  visibleAt: number
  receives: number
}

type Schedule = { name: string; at: number; queue: QueueName; body: string }

export type Queues = ReturnType<typeof newQueues>

const arnOf = (queue: QueueName): string => `arn:aws:sqs:eu-west-1:000000000000:${queue}`

/** Returns the queue of an ARN or a URL. */
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

export const newQueues = (now: () => number) => {
  const queued: Message[] = []
  const schedules: Schedule[] = []
  let count = 0

  const put = (queue: QueueName, body: string, delaySeconds = 0): void => {
    count += 1
    const visibleAt = now() + delaySeconds * 1000
    queued.push({ id: `message-${count}`, queue, body, visibleAt, receives: 0 })
  }

  mockClient(SQSClient)
    .on(SendMessageCommand)
    .callsFake(({ QueueUrl, MessageBody, DelaySeconds }) => {
      put(queueIn(QueueUrl), MessageBody, DelaySeconds)
      return {}
    })
    .on(SendMessageBatchCommand)
    .callsFake(({ QueueUrl, Entries }) => {
      for (const { MessageBody, DelaySeconds } of Entries) {
        put(queueIn(QueueUrl), MessageBody, DelaySeconds)
      }
      return {}
    })
    .on(ChangeMessageVisibilityCommand)
    .callsFake(({ ReceiptHandle, VisibilityTimeout }) => {
      const message = queued.find(({ id }) => id === ReceiptHandle)
      if (message) message.visibleAt = now() + VisibilityTimeout * 1000
      return {}
    })
  mockClient(SchedulerClient)
    .on(CreateScheduleCommand)
    .callsFake(({ Name: name, ScheduleExpression, Target }) => {
      if (schedules.some((schedule) => schedule.name === name)) {
        throw new ConflictException({ $metadata: {}, message: 'exists', Message: 'exists' })
      }
      const at = Date.parse(`${ScheduleExpression.slice('at('.length, -1)}Z`)
      schedules.push({ name, at, queue: queueIn(Target.Arn), body: Target.Input })
      return {}
    })
  for (const { prototype } of [SQSClient, SchedulerClient]) authorizeCallsOf(prototype)

  return {
    queued,
    put,
    /** Returns when the next message becomes visible or the next schedule fires. */
    nextAt: (): number =>
      Math.min(...queued.map(({ visibleAt }) => visibleAt), ...schedules.map(({ at }) => at)),
    /** Starts the visibility timeout of messages. */
    receive: (batch: readonly Message[]): SQSRecord[] =>
      batch.map((message) => {
        message.receives += 1
        message.visibleAt = now() + rowOf(message.queue).visibilitySeconds * 1000
        return recordOf(message)
      }),
    /** Deletes the messages that succeeded, and those that were received too often. */
    settle: (batch: readonly Message[], failed: ReadonlySet<string>): void => {
      for (const message of batch) {
        const isLast = message.receives >= rowOf(message.queue).maxReceiveCount
        if (!failed.has(message.id) || isLast) queued.splice(queued.indexOf(message), 1)
      }
    },
    fireSchedules: (): void => {
      for (const due of schedules.filter(({ at }) => at <= now())) {
        schedules.splice(schedules.indexOf(due), 1)
        put(due.queue, due.body)
      }
    },
  }
}

const recordOf = ({ id, queue, body, receives }: Message): SQSRecord =>
  ({
    messageId: id,
    receiptHandle: id,
    body,
    attributes: { ApproximateReceiveCount: String(receives) },
    eventSource: 'aws:sqs',
    eventSourceARN: arnOf(queue),
  }) as SQSRecord
