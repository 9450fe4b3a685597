import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch'
import type {
  Context,
  DynamoDBBatchResponse,
  DynamoDBRecord,
  DynamoDBStreamEvent,
  SQSBatchResponse,
  SQSEvent,
  SQSRecord,
} from 'aws-lambda'
import type * as v from 'valibot'
import { log } from '../log.ts'
import { type Message, messages, parseMessage, type QueueName, subjectOf } from './messages.ts'
import { setVisibility } from './send.ts'

/**
 * Handlers for batches of SQS messages and stream records. A record that throws is reported as failed
 * and redelivered; the others succeed. After too many attempts it moves to the dead-letter queue.
 */

/**
 * Redelivers a failed message after 2, 4, 8 ... 60 seconds. The queue's visibility timeout, six times
 * the function's timeout, is too long for a debit that expires within ten minutes.
 */
const retrySoon = async (record: SQSRecord) => {
  const { attributes, eventSourceARN, messageId, receiptHandle } = record
  const seconds = Math.min(2 ** Number(attributes.ApproximateReceiveCount), 60)
  try {
    await setVisibility(eventSourceARN, receiptHandle, seconds)
  } catch (error) {
    // The queue's visibility timeout then applies.
    log.warn('visibility timeout not changed', { message_id: messageId, error: error as Error })
  }
}

/**
 * Handles one message. Its SQS id is the request id of audit entries. `repeated`: an earlier worker
 * received the message and may have done all or part of the work.
 */
type HandleMessage<Q extends QueueName> = (
  message: Message<Q>,
  messageId: string,
  receipt: { repeated: boolean },
) => Promise<void>

/** Returns the handler of a function that consumes a queue, or several queues of one message shape. */
export const consumer = <Q extends QueueName>(queue: Q, handle: HandleMessage<Q>) =>
  batchConsumer(queue, () => handle)

/** @param open returns the handler of the messages of one batch, which run concurrently */
export const batchConsumer = <Q extends QueueName>(queue: Q, open: () => HandleMessage<Q>) => {
  const schema = messages[queue] as v.GenericSchema<unknown, Message<Q>>
  return (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const handle = open()
    const work = async (record: SQSRecord): Promise<void> => {
      const { messageId, body, attributes } = record
      try {
        await handle(parseMessage(schema, body), messageId, {
          repeated: Number(attributes.ApproximateReceiveCount) > 1,
        })
      } catch (error) {
        const ids = { message_id: messageId, ...subjectOf(schema, body) }
        log.error('fault', { queue, ...ids, error: error as Error })
        await retrySoon(record)
        throw error
      }
    }
    return processPartialResponse(event, work, new BatchProcessor(EventType.SQS), {
      context,
      throwOnFullBatchFailure: false,
    })
  }
}

/**
 * Returns the handler of a function that consumes a FIFO queue. It handles all messages of a group in a
 * batch at once and in order; if that throws, all of them are redelivered in the same order.
 */
export const groupConsumer = <Q extends QueueName>(
  queue: Q,
  handle: (messages: readonly Message<Q>[]) => Promise<void>,
) => {
  const schema = messages[queue] as v.GenericSchema<unknown, Message<Q>>
  const fail = async (records: readonly SQSRecord[], error: unknown) => {
    const [first] = records
    const ids = { message_id: first?.messageId, ...subjectOf(schema, first?.body ?? '') }
    log.error('fault', { queue, ...ids, error: error as Error })
    await Promise.all(records.map(retrySoon))
    return records.map(({ messageId }) => ({ itemIdentifier: messageId }))
  }
  const handleGroup = async (records: readonly SQSRecord[]) => {
    const parsed: Message<Q>[] = []
    const failures = []
    for (const record of records) {
      try {
        parsed.push(parseMessage(schema, record.body))
      } catch (error) {
        failures.push(...(await fail([record], error)))
      }
    }
    try {
      await handle(parsed)
      return failures
    } catch (error) {
      return fail(records, error)
    }
  }
  return async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const groups = Map.groupBy(Records, ({ attributes }) => attributes.MessageGroupId)
    const failures = await Promise.all([...groups.values()].map(handleGroup))
    return { batchItemFailures: failures.flat() }
  }
}

type StreamWork<W> = {
  /** Returns the work of a record. @throws Error for an unreadable record */
  read: (record: DynamoDBRecord) => W
  /** Does the work of a batch. Returns the work that failed. */
  complete: (works: readonly W[]) => Promise<ReadonlySet<W>>
  /** Called for completed work that no retry repeats. */
  onDone: (work: W) => void
}

/** Returns the handler of the stream. Lambda retries a batch from its first failed record. */
export const streamReader =
  <W extends object>({ read, complete, onDone }: StreamWork<W>) =>
  async ({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
    const works = Records.map((record) => {
      try {
        return read(record)
      } catch (error) {
        const sequence = record.dynamodb?.SequenceNumber
        log.error('fault', { sequence, error: error as Error })
        return undefined
      }
    })
    const failed = await complete(works.filter((work) => work !== undefined))
    const first = works.findIndex((work) => !work || failed.has(work))
    for (const work of first === -1 ? works : works.slice(0, first)) if (work) onDone(work)
    const itemIdentifier = Records[first]?.dynamodb?.SequenceNumber ?? ''
    return { batchItemFailures: first === -1 ? [] : [{ itemIdentifier }] }
  }
