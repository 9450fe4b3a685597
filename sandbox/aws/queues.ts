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
  const groups = newGroups()
  let count = 0

  const offerAt = (message: Message, at: number): void => {
    if (message.offer) cancel(message.offer)
    message.visibleAt = at
    message.offer = clock.at(at, () => {
      if (!message.isGone) onVisible(message)
    })
  }

  const hide = (message: Message, seconds: number): void =>
    offerAt(message, clock.now() + seconds * 1000)

  const add = (sent: SentMessage): void => {
    count += 1
    const receipt = `receipt-${count}`
    const message = { ...sent, receipt, receives: 0, offer: undefined, isGone: false }
    byReceipt.set(receipt, message)
    groups.add(message)
    offerAt(message, sent.visibleAt)
  }

  const remove = (message: Message): void => {
    message.isGone = true
    if (message.offer) cancel(message.offer)
    byReceipt.delete(message.receipt)
    groups.remove(message)
    journal.write({ removed: message.id })
  }

  const put = (queue: QueueName, body: string, delaySeconds = 0, group?: string): string => {
    const delays = copies(queue)
    count += 1
    const id = `message-${journal.generation}-${count}`
    const message = { id, queue, body, sentAt: clock.now(), ...(group !== undefined && { group }) }
    for (const delay of delays) {
      const sent = { ...message, visibleAt: message.sentAt + delaySeconds * 1000 + delay }
      journal.write({ sent })
      add(sent)
    }
    return id
  }

  return {
    /** Sends a message of a schedule. */
    put,
    /** Restores a message after a restart. */
    add,
    groupOf: groups.of,
    /** Starts the visibility timeouts. */
    receive: (received: readonly Message[]): SQSRecord[] =>
      received.map((message) => {
        message.receives += 1
        hide(message, rows[message.queue].visibilitySeconds)
        return recordOf(message)
      }),
    /** Deletes completed messages and dead letters; the others become visible again. */
    settle: (received: readonly Message[], failed: ReadonlySet<string>): void => {
      for (const message of received) {
        const isDead = failed.has(message.id) && isLastReceive(message)
        if (isDead) onDeadLetter(message)
        if (isDead || !failed.has(message.id)) remove(message)
      }
    },
    calls: callsOf({ put, hide, byReceipt, now: clock.now }),
  }
}

const isLastReceive = ({ queue, receives }: Message): boolean =>
  receives >= rows[queue].maxReceiveCount

/** The messages of each group of a FIFO queue, in the order of their arrival. */
const newGroups = () => {
  const groups = new Map<string, Message[]>()
  const of = ({ queue, group }: Pick<SentMessage, 'queue' | 'group'>): Message[] => {
    const key = `${queue} ${group}`
    const messages = groups.get(key) ?? []
    groups.set(key, messages)
    return messages
  }
  return {
    of,
    add: (message: Message): void => {
      if (isFifo(message.queue)) of(message).push(message)
    },
    remove: (message: Message): void => {
      if (!isFifo(message.queue)) return
      const group = of(message)
      group.splice(group.indexOf(message), 1)
    },
  }
}

type CallDeps = {
  /** @returns the id of the message */
  put: (queue: QueueName, body: string, delaySeconds?: number, group?: string) => string
  /** Makes a message invisible. */
  hide: (message: Message, seconds: number) => void
  byReceipt: ReadonlyMap<string, Message>
  now: () => number
}

/** Returns the calls of functions, with SQS's limits. */
const callsOf = ({ put, hide, byReceipt, now }: CallDeps) => {
  const putOnce = deduplicated(put, now)
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
      if (message) hide(message, VisibilityTimeout)
      return {}
    },
  }
}

/** Returns a function that sends a body to a group only once in some time. */
const deduplicated = (put: CallDeps['put'], now: CallDeps['now']) => {
  /** The id and the end of the deduplication of a body. */
  const sentBodies = new Map<string, { id: string; until: number }>()
  /** Returns the id of an earlier message with the same body and group. */
  return (queue: QueueName, body: string, group: string): string => {
    const key = `${queue} ${group} ${body}`
    const earlier = sentBodies.get(key)
    if (earlier && earlier.until > now()) return earlier.id
    for (const [expired, { until }] of sentBodies) {
      if (until > now()) break
      sentBodies.delete(expired)
    }
    const id = put(queue, body, 0, group)
    sentBodies.set(key, { id, until: now() + DEDUPLICATION_MS })
    return id
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
