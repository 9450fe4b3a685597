import {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { clientLimits } from '../client-limits.ts'
import { log } from '../log.ts'
import { queueUrlFrom, queueUrlOf } from '../runtime.ts'
import { isFifo, type Message, type QueueName } from './messages.ts'

/** The longest delay of SQS. A longer delay is a programming error. */
const DELAY_MAX_SECONDS = 900
export const BATCH_MAX = 10

export const sqs = new SQSClient(clientLimits.queues)

/** Changes the visibility timeout of an in-flight message, in seconds. */
export const setVisibility = async (
  queueArn: string,
  ReceiptHandle: string,
  VisibilityTimeout: number,
): Promise<void> => {
  const QueueUrl = queueUrlFrom(queueArn)
  await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }))
}

/**
 * One message for one queue. With `group`, SQS fair queues keep a busy provider from delaying others, and
 * a FIFO queue keeps the order.
 */
export type Outgoing = {
  [Q in QueueName]: { queue: Q; message: Message<Q>; group: string; delaySeconds?: number }
}[QueueName]

const wholeDelay = (seconds = 0): number => {
  const whole = Math.max(0, Math.ceil(seconds))
  if (whole > DELAY_MAX_SECONDS) throw new RangeError(`SQS cannot delay by ${whole} seconds`)
  return whole
}

const entryOf = ({ queue, message, group, delaySeconds }: Outgoing) => ({
  MessageBody: JSON.stringify(message),
  MessageGroupId: group,
  // A FIFO queue refuses the delay of a message.
  ...(!isFifo(queue) && { DelaySeconds: wholeDelay(delaySeconds) }),
})

export const send = async (outgoing: Outgoing): Promise<void> => {
  const QueueUrl = queueUrlOf(outgoing.queue)
  await sqs.send(new SendMessageCommand({ QueueUrl, ...entryOf(outgoing) }))
}

/** Sends messages in batches of ten and returns those that were not sent. */
export const sendAll = async (outgoing: readonly Outgoing[]): Promise<Outgoing[]> => {
  const byQueue = Map.groupBy(outgoing, ({ queue }) => queue)
  const refused = await Promise.all(
    [...byQueue].flatMap(([queue, messages]) =>
      chunks(messages).map((chunk) => sendChunk(queue, chunk)),
    ),
  )
  return refused.flat()
}

/** @throws Error if SQS refused a message, so that the caller's own record is retried */
export const sendAllOrThrow = async (outgoing: readonly Outgoing[]): Promise<void> => {
  const refused = await sendAll(outgoing)
  if (refused.length > 0) throw new Error(`SQS refused ${refused.length} messages`)
}

/**
 * Returns a send for the messages of one invocation. Messages that arrive during a call go with the
 * next call.
 * @throws Error if SQS refused the message
 */
export const batchedSend = () => {
  let waiting: { outgoing: Outgoing[]; refused: Promise<Outgoing[]> } | undefined
  let last: Promise<unknown> = Promise.resolve()
  return async (message: Outgoing): Promise<void> => {
    if (waiting) waiting.outgoing.push(message)
    else {
      const outgoing = [message]
      const refused = last.then(() => {
        waiting = undefined
        return sendAll(outgoing)
      })
      waiting = { outgoing, refused }
      last = refused.catch(() => undefined)
    }
    if ((await waiting.refused).includes(message)) throw new Error('SQS refused the message')
  }
}

const chunks = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / BATCH_MAX) }, (_, index) =>
    all.slice(index * BATCH_MAX, (index + 1) * BATCH_MAX),
  )

const sendChunk = async (queue: QueueName, chunk: Outgoing[]): Promise<Outgoing[]> => {
  const QueueUrl = queueUrlOf(queue)
  const Entries = chunk.map((outgoing, index) => ({ Id: String(index), ...entryOf(outgoing) }))
  try {
    const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }))
    return Failed.flatMap(({ Id }) => chunk[Number(Id)] ?? [])
  } catch (error) {
    log.warn('messages not sent', { queue, error: error as Error })
    return chunk
  }
}
