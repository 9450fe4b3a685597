import { Duration, type Stack } from 'aws-cdk-lib'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { QueueName } from '../../shared/queues/messages.ts'
import { deadLetters, type QueueRow } from '../definitions/queues.ts'
import { suppressNag } from './nag-suppressions.ts'

/** Every queue of a stage with its dead letters. */
export type Queues = {
  work: ReadonlyMap<QueueName, Queue>
  deadLetters: ReadonlyMap<QueueName, Queue>
}

/** Messages are ids and no secret, so SQS's own keys are enough for them. */
const sealed = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true }

export const defineQueues = (stack: Stack, rows: readonly QueueRow[]): Queues => {
  const dead = new Map(
    rows.map((row) => [
      row.name,
      new Queue(stack, deadLetters(row.name), {
        ...sealed,
        retentionPeriod: Duration.seconds(row.deadLetterRetentionSeconds),
      }),
    ]),
  )
  const work = new Map(
    rows.map((row) => [
      row.name,
      new Queue(stack, row.name, {
        ...sealed,
        visibilityTimeout: Duration.seconds(row.visibilitySeconds),
        retentionPeriod: Duration.seconds(row.retentionSeconds),
        deadLetterQueue: {
          queue: queueNamed(dead, row.name),
          maxReceiveCount: row.maxReceiveCount,
        },
      }),
    ]),
  )
  return { work, deadLetters: dead }
}

/** Where the table's stream puts aside what failed again and again. */
export const defineLostRecords = (stack: Stack, reader: string): Queue => {
  const lost = new Queue(stack, `${reader}-lost-records`, {
    ...sealed,
    retentionPeriod: Duration.days(14),
  })
  suppressNag(lost, {
    SQS3: 'Nothing consumes it: it is where failures end, as a dead-letter queue is',
  })
  return lost
}

export const queueNamed = (queues: ReadonlyMap<QueueName, Queue>, name: QueueName): Queue => {
  const queue = queues.get(name)
  if (!queue) throw new Error(`No job consumes the queue ${name}`)
  return queue
}
