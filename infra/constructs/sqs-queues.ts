import { Duration, type Stack } from 'aws-cdk-lib'
import {
  DeduplicationScope,
  FifoThroughputLimit,
  Queue,
  QueueEncryption,
  type QueueProps,
} from 'aws-cdk-lib/aws-sqs'
import { deadLetters, isFifo, type QueueName } from '../../shared/queues/messages.ts'
import { lostRecords, type QueueRow } from '../definitions/jobs.ts'
import { resourceName } from '../definitions/resource-name.ts'
import type { Stage } from '../definitions/stages.ts'
import { suppressNag } from './nag-suppressions.ts'

/** Messages contain ids and no secrets, so keys of SQS are enough. */
const encrypted = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true }

/** Without these settings, all groups of a FIFO queue share 300 calls a second. */
const highThroughput: QueueProps = {
  fifo: true,
  contentBasedDeduplication: true,
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
}

export const defineQueues = (stack: Stack, rows: readonly QueueRow[], { name: stage }: Stage) => {
  const deadLetterQueues = new Map(
    rows.map((row) => [
      row.name,
      new Queue(stack, deadLetters(row.name), {
        ...encrypted,
        queueName: resourceName(deadLetters(row.name), stage),
        ...(isFifo(row.name) && { fifo: true }),
        retentionPeriod: Duration.seconds(row.deadLetterRetentionSeconds),
      }),
    ]),
  )
  const work = new Map(
    rows.map((row) => [
      row.name,
      new Queue(stack, row.name, {
        ...encrypted,
        queueName: resourceName(row.name, stage),
        ...(isFifo(row.name) && highThroughput),
        visibilityTimeout: Duration.seconds(row.visibilitySeconds),
        retentionPeriod: Duration.seconds(row.retentionSeconds),
        deadLetterQueue: {
          queue: queueNamed(deadLetterQueues, row.name),
          maxReceiveCount: row.maxReceiveCount,
        },
      }),
    ]),
  )
  return { work, deadLetters: deadLetterQueues }
}

export type Queues = ReturnType<typeof defineQueues>

export const defineLostRecords = (stack: Stack, reader: string, stage: Stage): Queue => {
  const lost = new Queue(stack, lostRecords(reader), {
    ...encrypted,
    queueName: resourceName(lostRecords(reader), stage.name),
    retentionPeriod: Duration.days(14),
  })
  suppressNag(lost, { SQS3: 'It serves as a dead-letter queue itself' })
  return lost
}

export const queueNamed = (queues: ReadonlyMap<QueueName, Queue>, name: QueueName): Queue => {
  const queue = queues.get(name)
  if (!queue) throw new Error(`No job consumes the queue ${name}`)
  return queue
}
