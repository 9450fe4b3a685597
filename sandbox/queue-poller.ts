import { setTimeout as pause } from 'node:timers/promises'
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'

/** Polls a queue as Lambda does: receives, invokes the function, deletes what succeeded. */

export type QueueSource = {
  queueUrl: string
  queueArn: string
  batchSize: number
  concurrency: number
  invoke: (event: SQSEvent) => Promise<unknown>
  /** Called when the queue fails; the poller continues. */
  onFault: (error: unknown) => void
}

const WAIT_SECONDS = 5
const SQS_BATCH_MAX = 10
const FAULT_MS = 1_000
const STOP_MS = 1_000

/** @returns a function that stops polling and waits for batches in flight */
export const pollQueue = (sqs: SQSClient, source: QueueSource): (() => Promise<void>) => {
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const messages = await receive(sqs, source, stopping.signal)
      if (messages.length === 0) continue
      const work = handle(sqs, source, messages)
        .catch(source.onFault)
        .finally(() => running.delete(work))
      running.add(work)
      if (running.size >= source.concurrency) await Promise.race(running)
    }
    await Promise.all(running)
  }

  const looping = loop()
  return async () => {
    stopping.abort()
    // A webhook receiver without a response must not delay the stop.
    await Promise.race([looping, pause(STOP_MS, undefined, { ref: false })])
  }
}

const receive = async (
  sqs: SQSClient,
  source: QueueSource,
  signal: AbortSignal,
): Promise<Message[]> => {
  try {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: source.queueUrl,
        MaxNumberOfMessages: Math.min(source.batchSize, SQS_BATCH_MAX),
        WaitTimeSeconds: WAIT_SECONDS,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      }),
      { abortSignal: signal },
    )
    return Messages
  } catch (error) {
    if (signal.aborted) return []
    source.onFault(error)
    await pause(FAULT_MS)
    return []
  }
}

const handle = async (sqs: SQSClient, source: QueueSource, messages: Message[]): Promise<void> => {
  const records = messages.map((message) => recordOf(message, source.queueArn))
  const failed = await failedIds(source, { Records: records })
  const succeeded = messages.filter(({ MessageId = '' }) => !failed.has(MessageId))
  if (succeeded.length === 0) return
  await sqs.send(
    new DeleteMessageBatchCommand({
      QueueUrl: source.queueUrl,
      Entries: succeeded.map(({ MessageId, ReceiptHandle }) => ({ Id: MessageId, ReceiptHandle })),
    }),
  )
}

/** Returns the ids of failed messages: all of them when the function throws. */
const failedIds = async (source: QueueSource, event: SQSEvent): Promise<Set<string>> => {
  try {
    const { batchItemFailures = [] } = ((await source.invoke(event)) ?? {}) as SQSBatchResponse
    return new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
  } catch {
    return new Set(event.Records.map(({ messageId }) => messageId))
  }
}

const recordOf = (message: Message, queueArn: string): SQSRecord => ({
  messageId: message.MessageId ?? '',
  receiptHandle: message.ReceiptHandle ?? '',
  body: message.Body ?? '',
  attributes: {
    ApproximateReceiveCount: '1',
    SentTimestamp: '0',
    SenderId: 'sandbox',
    ApproximateFirstReceiveTimestamp: '0',
    ...message.Attributes,
  },
  messageAttributes: {},
  md5OfBody: message.MD5OfBody ?? '',
  eventSource: 'aws:sqs',
  eventSourceARN: queueArn,
  awsRegion: process.env.AWS_REGION ?? '',
})
