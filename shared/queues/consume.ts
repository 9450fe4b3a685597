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
import * as v from 'valibot'
import { log } from '../log.ts'
import { type Message, messages, type QueueName } from './messages.ts'
import { setVisibility } from './send.ts'

/**
 * The two ways a function is fed in batches. A record whose work throws is reported as failed and
 * comes again, the others are done; a record that comes too often ends in the dead-letter queue.
 */

const loggingFaults =
  <R>(
    ids: (record: R) => Record<string, string | undefined>,
    work: (record: R) => Promise<void>,
    onFault: (record: R) => Promise<void> = async () => undefined,
  ) =>
  async (record: R): Promise<void> => {
    try {
      await work(record)
    } catch (error) {
      log.error('fault', { ...ids(record), error: error as Error })
      await onFault(record)
      throw error
    }
  }

/**
 * Left alone, a message that failed is seen again only after six times its function's timeout,
 * which is long in the ten minutes of a debit. It comes after 2, 4, 8 ... 60 seconds instead.
 */
const retrySoon = async (record: SQSRecord) => {
  const { attributes, eventSourceARN, messageId, receiptHandle } = record
  const seconds = Math.min(2 ** Number(attributes.ApproximateReceiveCount), 60)
  try {
    await setVisibility(eventSourceARN, receiptHandle, seconds)
  } catch (error) {
    // Then it comes late, but it comes.
    log.warn('visibility timeout not changed', { message_id: messageId, error: error as Error })
  }
}

/** A message with the id of its delivery to us, which names this work in audit entries. */
type Handle<Q extends QueueName> = (
  message: Message<Q>,
  messageId: string,
  received: Received,
) => Promise<void>

type Received = {
  /** Somebody took this message before, and may have done its work or a part of it. */
  repeated: boolean
}

/** @throws Error that says nothing of what stands in the message: it ends in a log */
const parse = <T>(schema: v.GenericSchema<unknown, T>, body: string): T => {
  try {
    return v.parse(schema, JSON.parse(body))
  } catch {
    throw new Error('Malformed message')
  }
}

/** The debit or the batch that a message is about; nothing where it is no message. */
const subjectOf = (schema: v.GenericSchema, body: string): Record<string, string> => {
  try {
    const message = Object.entries(parse<object>(schema as v.GenericSchema<unknown, object>, body))
    return Object.fromEntries(message.filter(([name]) => SUBJECTS.has(name)))
  } catch {
    return {}
  }
}

const SUBJECTS = new Set(['reference', 'batch', 'provider'])

/** The handler of a function that consumes these queues. */
export const consumer = <Q extends QueueName>(queue: Q, handle: Handle<Q>) => {
  const schema = messages[queue] as v.GenericSchema<unknown, Message<Q>>
  const work = loggingFaults<SQSRecord>(
    ({ messageId, body }) => ({ queue, message_id: messageId, ...subjectOf(schema, body) }),
    (record) =>
      handle(parse(schema, record.body), record.messageId, {
        repeated: Number(record.attributes.ApproximateReceiveCount) > 1,
      }),
    retrySoon,
  )
  return (event: SQSEvent, context: Context): Promise<SQSBatchResponse> =>
    processPartialResponse(event, work, new BatchProcessor(EventType.SQS), {
      context,
      throwOnFullBatchFailure: false,
    })
}

/**
 * The handler of the function that reads the table's stream.
 * @param open what takes the records of one batch
 */
export const streamReader =
  (open: () => (record: DynamoDBRecord) => Promise<void>) =>
  (event: DynamoDBStreamEvent, context: Context): Promise<DynamoDBBatchResponse> => {
    const work = loggingFaults<DynamoDBRecord>(
      ({ dynamodb }) => ({ sequence: dynamodb?.SequenceNumber }),
      open(),
    )
    return processPartialResponse(event, work, new BatchProcessor(EventType.DynamoDBStreams), {
      context,
      throwOnFullBatchFailure: false,
    })
  }
