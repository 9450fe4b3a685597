import { SQSServiceException } from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import { type QueueRow, queueRows } from '../../infra/definitions/jobs.ts'
import { isFifo, type QueueName, queueNames } from '../../shared/queues/messages.ts'
import { type Clock, cancel, type Timer } from './clock.ts'
import type { Conditions } from './conditions.ts'
import { newDeadLetters, queueOfLetters } from './dead-letters.ts'
import { deduplicated, type Members, newGroups, type Put, sha256 } from './fifo.ts'
import type { Journal, SentMessage } from './journal.ts'

/** SQS queues, with delays and visibility timeouts; FIFO queues with groups. */

export type Message = SentMessage & {
  readonly receipt: string
  receives: number
  /** The timer of its next delivery. */
  offer: Timer | undefined
  isGone: boolean
}

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
  MessageDeduplicationId?: string
  MessageAttributes?: SentMessage['attributes']
}
type Entry = Omit<SendInput, 'QueueUrl'> & { Id: string }
export type SendBatchInput = { QueueUrl: string; Entries: readonly Entry[] }
type VisibilityInput = { ReceiptHandle: string; VisibilityTimeout: number }

const DELAY_MAX_SECONDS = 900
const BATCH_MAX = 10
const MESSAGE_MAX_BYTES = 1_048_576

type OfferDeps = Pick<Deps, 'clock' | 'onVisible'> & { expire: (message: Message) => void }

const newOffers = ({ clock, onVisible, expire }: OfferDeps) => {
  const offerAt = (message: Message, at: number): void => {
    if (message.offer) cancel(message.offer)
    message.visibleAt = at
    message.offer = clock.at(at, () => {
      if (message.isGone) return
      if (isExpired(message, clock.now())) expire(message)
      else onVisible(message)
    })
  }

  const hide = (message: Message, seconds: number): void =>
    offerAt(message, clock.now() + seconds * 1000)
  return { offerAt, hide }
}

const messagesOf = ({ clock, journal }: Pick<Deps, 'clock' | 'journal'>) => {
  let count = 0
  return (queue: QueueName, body: string, members: Members) => {
    count += 1
    const id = `message-${journal.generation}-${count}`
    return { id, queue, body, sentAt: clock.now(), ...members }
  }
}

export type Queues = ReturnType<typeof newQueues>

export const newQueues = ({ clock, copies, onVisible, onDeadLetter, journal }: Deps) => {
  const byReceipt = new Map<string, Message>()
  const groups = newGroups<Message>()
  const letters = newDeadLetters({ now: clock.now, arnOf: queueArn, journal })
  const { offerAt, hide } = newOffers({ clock, onVisible, expire: (one) => end(one, false) })
  const newMessage = messagesOf({ clock, journal })
  let count = 0

  const add = (sent: SentMessage): void => {
    count += 1
    const state = { receives: 0, offer: undefined, isGone: false }
    const message = { ...sent, receipt: `receipt-${count}`, ...state }
    byReceipt.set(message.receipt, message)
    groups.add(message)
    offerAt(message, sent.visibleAt)
  }

  const end = (message: Message, isDead: boolean): void => {
    message.isGone = true
    if (message.offer) cancel(message.offer)
    byReceipt.delete(message.receipt)
    groups.remove(message)
    if (isDead) {
      onDeadLetter(message)
      letters.add(letterOf(message, clock.now()))
    } else journal.write({ removed: message.id })
  }

  const put: Put = (queue, body, delaySeconds = 0, members = {}) => {
    const delays = copies(queue, body)
    const message = newMessage(queue, body, members)
    for (const delay of delays) {
      const sent = { ...message, visibleAt: message.sentAt + delaySeconds * 1000 + delay }
      journal.write({ sent })
      add(sent)
    }
    return message.id
  }

  /** Sends to a dead-letter queue, as Scheduler does. */
  const putLetter = (...sent: Parameters<typeof newMessage>): string =>
    letters.add({ ...newMessage(...sent), dead: 'sent' })

  return {
    /** Sends a message of a schedule. */
    put,
    /** Restores a message or a dead letter after a restart. */
    add: (sent: SentMessage): void => (sent.dead ? letters.restore(sent) : add(sent)),
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
        const isFailed = failed.has(message.id)
        if (!isFailed || isLastReceive(message)) end(message, isFailed)
      }
    },
    calls: { ...callsOf({ put, putLetter, hide, byReceipt, now: clock.now }), ...letters.calls },
  }
}

/** Returns the dead letter of a message. */
const letterOf = (message: Message, now: number) => {
  const { id, queue, body, sentAt, group, deduplicationId, attributes } = message
  return {
    ...{ id, queue, body, dead: 'moved' as const },
    // The age of a FIFO message starts again.
    sentAt: isFifo(queue) ? now : sentAt,
    ...membersOf({ group, deduplicationId, attributes }),
  }
}

const isExpired = ({ queue, sentAt }: Message, now: number): boolean =>
  now - sentAt >= rows[queue].retentionSeconds * 1000

const isLastReceive = ({ queue, receives }: Message): boolean =>
  receives >= rows[queue].maxReceiveCount

/** Omits undefined members. */
const membersOf = (members: { [K in keyof Members]: Members[K] | undefined }): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

type CallDeps = {
  put: Put
  putLetter: (queue: QueueName, body: string, members: Members) => string
  /** Makes a message invisible. */
  hide: (message: Message, seconds: number) => void
  byReceipt: ReadonlyMap<string, Message>
  now: () => number
}

/** Returns the calls of functions, with SQS's limits. */
const callsOf = ({ put, putLetter, hide, byReceipt, now }: CallDeps) => {
  const putOnce = deduplicated(put, now)
  const send = (url: string, entry: Omit<Entry, 'Id'>) => {
    const { MessageBody: body, DelaySeconds = 0, MessageGroupId: group } = entry
    if (DelaySeconds < 0 || DelaySeconds > DELAY_MAX_SECONDS) {
      throw refused('InvalidParameterValue', `A delay of ${DelaySeconds} s`)
    }
    if (body.length > MESSAGE_MAX_BYTES) {
      throw refused('InvalidParameterValue', `A message of ${body.length} characters`)
    }
    const { MessageDeduplicationId: deduplicationId, MessageAttributes: attributes } = entry
    const members = membersOf({ group, deduplicationId, attributes })
    const buried = queueOfLetters(url)
    if (buried) return { MessageId: putLetter(buried, body, members) }
    const queue = queueIn(url)
    if (!isFifo(queue)) return { MessageId: put(queue, body, DelaySeconds, members) }
    if (!group || entry.DelaySeconds !== undefined) {
      throw refused('InvalidParameterValue', 'A FIFO message needs a group and has no delay')
    }
    return { MessageId: putOnce(queue, body, { deduplicationId: sha256(body), ...members, group }) }
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
