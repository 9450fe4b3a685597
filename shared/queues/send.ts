import {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { environment } from '../runtime.ts'
import type { Message, QueueName } from './messages.ts'

/** The longest delay that SQS knows. Everything here waits less; more is a mistake of ours. */
const DELAY_MAX_SECONDS = 900
const BATCH_MAX = 10

export const sqs = new SQSClient({
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
})

/** Has a message in work seen again after so many seconds. */
export const setVisibility = async (
  queueArn: string,
  ReceiptHandle: string,
  VisibilityTimeout: number,
): Promise<void> => {
  const QueueUrl = environment.queueUrlOf(queueArn)
  await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }))
}

/** One message for one queue. `group` keeps a busy provider from delaying the others (fair queues). */
export type Outgoing = {
  [Q in QueueName]: { queue: Q; message: Message<Q>; group: string; delaySeconds?: number }
}[QueueName]

const wholeDelay = (seconds = 0): number => {
  const whole = Math.max(0, Math.ceil(seconds))
  if (whole > DELAY_MAX_SECONDS) throw new RangeError(`SQS cannot delay by ${whole} seconds`)
  return whole
}

const entryOf = ({ message, group, delaySeconds }: Outgoing) => ({
  MessageBody: JSON.stringify(message),
  MessageGroupId: group,
  DelaySeconds: wholeDelay(delaySeconds),
})

export const send = async (outgoing: Outgoing): Promise<void> => {
  const QueueUrl = environment.queueUrl(outgoing.queue)
  await sqs.send(new SendMessageCommand({ QueueUrl, ...entryOf(outgoing) }))
}

/**
 * Sends many, in as few calls as SQS allows.
 * @returns the ones that SQS did not take
 */
export const sendAll = async (outgoing: readonly Outgoing[]): Promise<Outgoing[]> => {
  const byQueue = Map.groupBy(outgoing, ({ queue }) => queue)
  const refused = await Promise.all(
    [...byQueue].flatMap(([queue, ours]) =>
      chunks(ours).map((chunk) => sendChunk(environment.queueUrl(queue), chunk)),
    ),
  )
  return refused.flat()
}

/** @throws Error when SQS did not take all of them: whoever sends comes again */
export const sendAllOrThrow = async (outgoing: readonly Outgoing[]): Promise<void> => {
  const refused = await sendAll(outgoing)
  if (refused.length > 0) throw new Error(`SQS refused ${refused.length} messages`)
}

const chunks = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / BATCH_MAX) }, (_, n) =>
    all.slice(n * BATCH_MAX, (n + 1) * BATCH_MAX),
  )

const sendChunk = async (QueueUrl: string, chunk: Outgoing[]): Promise<Outgoing[]> => {
  const Entries = chunk.map((outgoing, n) => ({ Id: String(n), ...entryOf(outgoing) }))
  const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }))
  return Failed.flatMap(({ Id }) => chunk[Number(Id)] ?? [])
}
