import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type Message as SqsMessage,
} from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { parseJson } from '../domain/json.ts'
import type { DeadLetter } from '../domain/operator/dead-letter.ts'
import { log } from '../log.ts'
import { queueUrlOf } from '../runtime.ts'
import { deadLetters, isFifo, messages, type QueueName, subjectOf } from './messages.ts'
import { BATCH_MAX, sqs } from './send.ts'

/** Dead-letter queues (docs/operations.md#dead-letters). */

const COUNTS = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const

/** The letters of one call, which takes half a minute at most if SQS replies in time. */
const LETTERS_MAX = 500
/** Longer than the calls that move a batch, with their retries. */
const MOVE_SECONDS = 60

const urlOf = (queue: QueueName): string => deadLetters(queueUrlOf(queue))

/** Counts the letters, also those in flight. The count of SQS is approximate. */
export const countLetters = async (queue: QueueName): Promise<number> => {
  const input = { QueueUrl: urlOf(queue), AttributeNames: [...COUNTS] }
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand(input))
  return COUNTS.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0)
}

const receive = async (
  queue: QueueName,
  { count, hiddenSeconds }: { count: number; hiddenSeconds: number },
): Promise<SqsMessage[]> => {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: urlOf(queue),
      MaxNumberOfMessages: count,
      VisibilityTimeout: hiddenSeconds,
      // Asks all servers of the queue: without letters, a reply is empty only if the queue is.
      WaitTimeSeconds: 1,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    }),
  )
  return Messages
}

/** Scheduler's letter is its request to SQS, with the message as a member. */
const SchedulerRequest = v.object({ MessageBody: v.string() })

const messageIn = (body: string): string => {
  const request = v.safeParse(SchedulerRequest, parseJson(body))
  return request.success ? request.output.MessageBody : body
}

const letterOf = (queue: QueueName, { MessageId = '', ...letter }: SqsMessage): DeadLetter => {
  const { Body = '', Attributes = {}, MessageAttributes = {} } = letter
  const [schema, body] = [messages[queue], messageIn(Body)]
  const isMalformed = !v.is(schema, parseJson(body))
  // SQS names the queue from which it moved a message.
  const isUnsent = Attributes.DeadLetterQueueSourceArn === undefined
  const { ERROR_CODE: code, ERROR_MESSAGE: text } = MessageAttributes
  const reason = [code, text].flatMap((attribute) => attribute?.StringValue ?? []).join(': ')
  return {
    id: MessageId,
    sentAt: new Date(Number(Attributes.SentTimestamp)),
    kind: isMalformed ? 'malformed' : isUnsent ? 'unsent' : 'failed',
    reason: (isUnsent && reason) || null,
    subject: subjectOf(schema, body),
  }
}

/** Returns the first letters, which stay visible. */
export const firstLetters = async (queue: QueueName): Promise<DeadLetter[]> =>
  (await receive(queue, { count: BATCH_MAX, hiddenSeconds: 0 })).map((one) => letterOf(queue, one))

/** Moves letters back to their queue; consumers tolerate those that are moved twice. */
export const redrive = async (queue: QueueName) => {
  // One at a time keeps the order of a group, also if SQS refuses one.
  const count = isFifo(queue) ? 1 : BATCH_MAX
  let [received, moved] = [0, 0]
  while (received < LETTERS_MAX) {
    const letters = await receive(queue, { count, hiddenSeconds: MOVE_SECONDS })
    if (letters.length === 0) break
    received += letters.length
    moved += await move(queue, letters)
  }
  return { queue, moved, remaining: await countLetters(queue) }
}

/** Deletes only letters that the queue has accepted; the others become visible again. */
const move = async (queue: QueueName, letters: readonly SqsMessage[]): Promise<number> => {
  const { Successful: sent = [] } = await sqs.send(
    new SendMessageBatchCommand({ QueueUrl: queueUrlOf(queue), Entries: letters.map(entryOf) }),
  )
  const Entries = sent.flatMap(({ Id }) => {
    const { ReceiptHandle } = letters[Number(Id)] ?? {}
    return Id && ReceiptHandle ? [{ Id, ReceiptHandle }] : []
  })
  const input = { QueueUrl: urlOf(queue), Entries }
  const { Successful: deleted = [] } =
    Entries.length > 0 ? await sqs.send(new DeleteMessageBatchCommand(input)) : {}
  if (deleted.length < letters.length) {
    log.warn('letters not moved', { queue, count: letters.length - deleted.length })
  }
  return deleted.length
}

const entryOf = ({ Body = '', MessageAttributes, Attributes = {} }: SqsMessage, index: number) => ({
  Id: String(index),
  MessageBody: messageIn(Body),
  MessageAttributes,
  MessageGroupId: Attributes.MessageGroupId,
  MessageDeduplicationId: Attributes.MessageDeduplicationId,
})
