import { setTimeout as pause } from 'node:timers/promises'
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'

/** What Lambda does for a queue: receives, invokes, and deletes what did not fail. */

export type QueueFeed = {
  queueUrl: string
  queueArn: string
  batchSize: number
  concurrency: number
  invoke: (event: SQSEvent) => Promise<unknown>
  /** Told when the queue itself does not answer; the poller goes on. */
  onFault: (error: unknown) => void
}

const WAIT_SECONDS = 5
const SQS_BATCH_MAX = 10
const FAULT_MS = 1_000
const STOP_MS = 1_000

/** @returns a function that stops the pollers and waits for the work in hand */
export const pollQueue = (sqs: SQSClient, feed: QueueFeed): (() => Promise<void>) => {
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const messages = await receive(sqs, feed, stopping.signal)
      if (messages.length === 0) continue
      const work = handle(sqs, feed, messages)
        .catch(feed.onFault)
        .finally(() => running.delete(work))
      running.add(work)
      if (running.size >= feed.concurrency) await Promise.race(running)
    }
    await Promise.all(running)
  }

  const looping = loop()
  return async () => {
    stopping.abort()
    // A receiver that never answers does not keep the sandbox from its end.
    await Promise.race([looping, pause(STOP_MS, undefined, { ref: false })])
  }
}

const receive = async (
  sqs: SQSClient,
  feed: QueueFeed,
  signal: AbortSignal,
): Promise<Message[]> => {
  try {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: feed.queueUrl,
        MaxNumberOfMessages: Math.min(feed.batchSize, SQS_BATCH_MAX),
        WaitTimeSeconds: WAIT_SECONDS,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      }),
      { abortSignal: signal },
    )
    return Messages
  } catch (error) {
    if (signal.aborted) return []
    feed.onFault(error)
    await pause(FAULT_MS)
    return []
  }
}

const handle = async (sqs: SQSClient, feed: QueueFeed, messages: Message[]): Promise<void> => {
  const records = messages.map((message) => recordOf(message, feed.queueArn))
  const failed = await failures(feed, { Records: records })
  const done = messages.filter(({ MessageId = '' }) => !failed.has(MessageId))
  if (done.length === 0) return
  await sqs.send(
    new DeleteMessageBatchCommand({
      QueueUrl: feed.queueUrl,
      Entries: done.map(({ MessageId, ReceiptHandle }) => ({ Id: MessageId, ReceiptHandle })),
    }),
  )
}

/** A function that throws has failed with all of its messages. */
const failures = async (feed: QueueFeed, event: SQSEvent): Promise<Set<string>> => {
  try {
    const { batchItemFailures = [] } = ((await feed.invoke(event)) ?? {}) as SQSBatchResponse
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
