import { setTimeout as pause } from 'node:timers/promises'
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import type { SQSEvent, SQSRecord } from 'aws-lambda'
import { failedOf, type Invoke } from '../aws/event-sources.ts'

/** Polls a queue as Lambda does: receives, invokes the function, deletes what succeeded. */

export type QueueSource = {
  queueUrl: string
  queueArn: string
  batchSize: number
  concurrency: number
  invoke: (event: SQSEvent) => ReturnType<Invoke>
  /** Called when the queue fails; the poller continues. */
  onFault: (error: unknown) => void
}

const WAIT_SECONDS = 5
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
  { queueUrl: QueueUrl, batchSize: MaxNumberOfMessages, onFault }: QueueSource,
  abortSignal: AbortSignal,
): Promise<Message[]> => {
  try {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages,
        WaitTimeSeconds: WAIT_SECONDS,
        MessageSystemAttributeNames: ['All'],
      }),
      { abortSignal },
    )
    return Messages
  } catch (error) {
    if (abortSignal.aborted) return []
    onFault(error)
    await pause(FAULT_MS)
    return []
  }
}

const handle = async (
  sqs: SQSClient,
  { queueUrl: QueueUrl, queueArn, invoke }: QueueSource,
  messages: Message[],
): Promise<void> => {
  const Records = messages.map((message) => recordOf(message, queueArn))
  const failed = failedOf(
    await invoke({ Records }),
    Records.map(({ messageId }) => messageId),
  )
  const Entries = messages
    .filter(({ MessageId = '' }) => !failed.has(MessageId))
    .map(({ MessageId, ReceiptHandle }) => ({ Id: MessageId, ReceiptHandle }))
  if (Entries.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))
}

const recordOf = ({ MessageId, ReceiptHandle, Body, Attributes }: Message, arn: string) =>
  ({
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: { ...Attributes },
    messageAttributes: {},
    eventSource: 'aws:sqs',
    eventSourceARN: arn,
  }) as unknown as SQSRecord
