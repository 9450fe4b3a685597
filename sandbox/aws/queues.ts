import { SQSServiceException } from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import { type QueueRow, queueRows } from '../../infra/definitions/jobs.ts'
import { isFifo, messages, type QueueName } from '../../shared/queues/messages.ts'
import { type Clock, cancel, type Timer } from './clock.ts'
import type { Conditions } from './conditions.ts'
import type { Journal, SentMessage } from './journal.ts'

/** SQS queues, with delays, visibility timeouts and dead letters; FIFO queues with groups. */

export type Message = SentMessage & {
  readonly receipt: string
  receives: number
  /** The timer of its next delivery. */
  offer: Timer | undefined
  isGone: boolean
}

export const queueNames = Object.keys(messages) as QueueName[]

export const queueUrl = (queue: QueueName, endpoint = 'https://sqs.local'): string =>
  `${endpoint}/000000000000/${queue}`
export const queueArn = (queue: QueueName): string => `arn:aws:sqs:eu-west-1:000000000000:${queue}`

/** Returns the queue of a URL or an ARN. */
export const queueIn = (place: string): QueueName => {
  const name = place.split(/[/:]/).at(-1)
  const queue = queueNames.find((one) => one === name)
  if (!queue) throw new Error(`There is no queue ${place}`)
  return queue
}

const rows = Object.fromEntries(queueRows.map((row) => [row.name, row])) as Record<
  QueueName,
  QueueRow
>

type Deps = {
  clock: Clock
  copies: Conditions['copies']
  /** Offers a visible message to a function. */
  onVisible: (message: Message) => void
  onDeadLetter: (message: Message) => void
  journal: Journal
}

export type SendInput = {
  QueueUrl: string
  MessageBody: string
  DelaySeconds?: number
  MessageGroupId?: string
}
type Entry = Omit<SendInput, 'QueueUrl'> & { Id: string }
export type SendBatchInput = { QueueUrl: string; Entries: readonly Entry[] }
type VisibilityInput = { ReceiptHandle: string; VisibilityTimeout: number }

const DELAY_MAX_SECONDS = 900
const BATCH_MAX = 10
const MESSAGE_MAX_BYTES = 1_048_576
/** A FIFO queue accepts a body only once in this time, by its hash. */
const DEDUPLICATION_MS = 300_000

export type Queues = ReturnType<typeof newQueues>

export const newQueues = ({ clock, copies, onVisible, onDeadLetter, journal }: Deps) => {
  const byReceipt = new Map<string, Message>()
  /** The messages of a group of a FIFO queue, in the order of their arrival. */
  const groups = new Map<string, Message[]>()
  /** The id and the end of the deduplication of a body. */
  const sentBodies = new Map<string, { id: string; until: number }>()
  let count = 0

  const groupOf = ({ queue, group }: Pick<SentMessage, 'queue' | 'group'>): Message[] => {
    const key = `${queue} ${group}`
    const messages = groups.get(key) ?? []
    groups.set(key, messages)
    return messages
  }

  const offerAt = (message: Message, at: number): void => {
    if (message.offer) cancel(message.offer)
    message.visibleAt = at
    message.offer = clock.at(at, () => {
      if (!message.isGone) onVisible(message)
    })
  }

  const add = (sent: SentMessage): void => {
    count += 1
    const receipt = `receipt-${count}`
    const message = { ...sent, receipt, receives: 0, offer: undefined, isGone: false }
    byReceipt.set(receipt, message)
    if (isFifo(sent.queue)) groupOf(sent).push(message)
    offerAt(message, sent.visibleAt)
  }

  const remove = (message: Message): void => {
    message.isGone = true
    if (message.offer) cancel(message.offer)
    byReceipt.delete(message.receipt)
    if (isFifo(message.queue)) {
      const group = groupOf(message)
      group.splice(group.indexOf(message), 1)
    }
    journal.write({ removed: message.id })
  }

  const put = (queue: QueueName, body: string, delaySeconds = 0, group?: string): string => {
    const delays = copies(queue)
    count += 1
    const id = `message-${journal.generation}-${count}`
    const sentAt = clock.now()
    for (const delay of delays) {
      const visibleAt = sentAt + delaySeconds * 1000 + delay
      const sent = { id, queue, body, sentAt, visibleAt, ...(group !== undefined && { group }) }
      journal.write({ sent })
      add(sent)
    }
    return id
  }

  /** Returns the id of an earlier message with the same body and group. */
  const putOnce = (queue: QueueName, body: string, group: string): string => {
    const key = `${queue} ${group} ${body}`
    const earlier = sentBodies.get(key)
    if (earlier && earlier.until > clock.now()) return earlier.id
    for (const [expired, { until }] of sentBodies) {
      if (until > clock.now()) break
      sentBodies.delete(expired)
    }
    const id = put(queue, body, 0, group)
    sentBodies.set(key, { id, until: clock.now() + DEDUPLICATION_MS })
    return id
  }

  const send = (url: string, entry: Omit<Entry, 'Id'>) => {
    const { MessageBody: body, DelaySeconds = 0, MessageGroupId: group } = entry
    if (DelaySeconds < 0 || DelaySeconds > DELAY_MAX_SECONDS) {
      throw refused('InvalidParameterValue', `A delay of ${DelaySeconds} s`)
    }
    if (body.length > MESSAGE_MAX_BYTES) {
      throw refused('InvalidParameterValue', `A message of ${body.length} characters`)
    }
    const queue = queueIn(url)
    if (!isFifo(queue)) return { MessageId: put(queue, body, DelaySeconds, group) }
    if (!group || entry.DelaySeconds !== undefined) {
      throw refused('InvalidParameterValue', 'A FIFO message needs a group and has no delay')
    }
    return { MessageId: putOnce(queue, body, group) }
  }

  return {
    /** Sends a message of a schedule. */
    put,
    /** Restores a message after a restart. */
    add,
    /** Returns all messages of a group of a FIFO queue, in order. */
    groupOf,
    /** Starts the visibility timeouts. */
    receive: (received: readonly Message[]): SQSRecord[] =>
      received.map((message) => {
        message.receives += 1
        offerAt(message, clock.now() + rows[message.queue].visibilitySeconds * 1000)
        return recordOf(message)
      }),
    /** Deletes completed messages and dead letters; the others become visible again. */
    settle: (received: readonly Message[], failed: ReadonlySet<string>): void => {
      for (const message of received) {
        const isDone = !failed.has(message.id)
        const isDeadLetter = message.receives >= rows[message.queue].maxReceiveCount
        if (!isDone && isDeadLetter) onDeadLetter(message)
        if (isDone || isDeadLetter) remove(message)
      }
    },
    calls: {
      SendMessageCommand: ({ QueueUrl, ...entry }: SendInput) => send(QueueUrl, entry),
      SendMessageBatchCommand: ({ QueueUrl, Entries }: SendBatchInput) => {
        if (Entries.length < 1 || Entries.length > BATCH_MAX) {
          throw refused('TooManyEntriesInBatchRequest', `A batch of ${Entries.length} entries`)
        }
        const Successful = Entries.map(({ Id, ...entry }) => ({ Id, ...send(QueueUrl, entry) }))
        return { Successful, Failed: [] }
      },
      ChangeMessageVisibilityCommand: ({ ReceiptHandle, VisibilityTimeout }: VisibilityInput) => {
        const message = byReceipt.get(ReceiptHandle)
        if (message) offerAt(message, clock.now() + VisibilityTimeout * 1000)
        return {}
      },
    },
  }
}

const refused = (name: string, message: string): SQSServiceException =>
  new SQSServiceException({ name, message, $fault: 'client', $metadata: { httpStatusCode: 400 } })

const recordOf = ({ id, receipt, queue, body, group, receives, sentAt }: Message): SQSRecord =>
  ({
    messageId: id,
    receiptHandle: receipt,
    body,
    attributes: {
      ApproximateReceiveCount: String(receives),
      SentTimestamp: String(sentAt),
      ...(group !== undefined && { MessageGroupId: group }),
    },
    messageAttributes: {},
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn(queue),
  }) as SQSRecord
