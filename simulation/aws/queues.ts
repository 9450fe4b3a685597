import type { SQSRecord } from 'aws-lambda'
import { type QueueRow, queueRows } from '../../infra/definitions/queues.ts'
import { messages, type QueueName } from '../../shared/queues/messages.ts'
import { type Clock, cancel, type Timer } from '../engine/clock.ts'
import type { Faults } from '../engine/faults.ts'
import type { Random } from '../engine/random.ts'

/**
 * SQS standard queues: a message is there from its time on until it is deleted, hidden while
 * somebody has it, delivered more than once or late, and put aside when it came too often.
 */

export type Message = {
  readonly id: string
  readonly queue: QueueName
  readonly body: string
  receives: number
  visibleAt: number
  /** When it is offered next. */
  offer: Timer | undefined
  isGone: boolean
}

export const queueNames = Object.keys(messages) as QueueName[]

export const queueUrl = (queue: QueueName): string => `https://sqs.simulated/000000000000/${queue}`
export const queueArn = (queue: QueueName): string => `arn:aws:sqs:eu-west-1:000000000000:${queue}`

export const queueIn = (place: string): QueueName => {
  const name = place.split(/[/:]/).at(-1)
  const queue = queueNames.find((one) => one === name)
  if (!queue) throw new Error(`There is no queue ${place}`)
  return queue
}

const rows = new Map<QueueName, QueueRow>(queueRows.map((row) => [row.name, row]))
const rowOf = (queue: QueueName): QueueRow => {
  const row = rows.get(queue)
  if (!row) throw new Error(`There is no queue ${queue}`)
  return row
}

type Deps = {
  clock: Clock
  random: Random
  faults: Faults
  /** Has somebody take messages of a queue. */
  onVisible: (message: Message) => void
}

export type Queues = ReturnType<typeof newQueues>

export const newQueues = ({ clock, random, faults, onVisible }: Deps) => {
  const byReceipt = new Map<string, Message>()
  const deadLetters: Message[] = []
  let count = 0

  const offerAt = (message: Message, at: number): void => {
    if (message.offer) cancel(message.offer)
    message.visibleAt = at
    message.offer = clock.at(at, () => {
      if (!message.isGone) onVisible(message)
    })
  }

  const add = (id: string, queue: QueueName, body: string, at: number): void => {
    count += 1
    const message: Message = {
      id,
      queue,
      body,
      receives: 0,
      visibleAt: at,
      offer: undefined,
      isGone: false,
    }
    byReceipt.set(`receipt-${count}`, message)
    receipts.set(message, `receipt-${count}`)
    offerAt(message, at)
  }
  const receipts = new Map<Message, string>()

  const remove = (message: Message): void => {
    message.isGone = true
    if (message.offer) cancel(message.offer)
    byReceipt.delete(receipts.get(message) ?? '')
    receipts.delete(message)
  }

  return {
    /** Puts a message, which may get lost, or come late or twice. */
    put: (queue: QueueName, body: string, delaySeconds = 0): void => {
      if (faults.strikes('message lost') || faults.loses(queue)) return
      count += 1
      const id = `message-${count}`
      const late = faults.strikes('message late') ? random.between(0, 120_000) : 0
      const at = clock.now() + delaySeconds * 1000 + late + random.between(5, 60)
      add(id, queue, body, at)
      if (faults.strikes('message twice')) {
        // At once, while the first is at work, or when it is long done.
        add(
          id,
          queue,
          body,
          at + random.pick([0, random.between(0, 1_000), random.between(0, 300_000)]),
        )
      }
    },
    /** Hides some messages from others, as one who receives them does. */
    receive: (taken: readonly Message[]): SQSRecord[] =>
      taken.map((message) => {
        message.receives += 1
        offerAt(message, clock.now() + rowOf(message.queue).visibilitySeconds * 1000)
        return recordOf(message, receipts.get(message) ?? '')
      }),
    /** Takes away what was done. What failed is seen again when its time comes. */
    settle: (taken: readonly Message[], failed: ReadonlySet<string>): void => {
      for (const message of taken) {
        if (!failed.has(message.id)) remove(message)
        else if (message.receives >= rowOf(message.queue).maxReceiveCount) {
          remove(message)
          deadLetters.push(message)
        }
      }
    },
    hide: (receipt: string, seconds: number): void => {
      const message = byReceipt.get(receipt)
      if (message) offerAt(message, clock.now() + seconds * 1000)
    },
    deadLetters,
    /** How many there are, hidden ones too. */
    size: (): number => receipts.size,
  }
}

const recordOf = ({ id, queue, body, receives }: Message, receiptHandle: string): SQSRecord =>
  ({
    messageId: id,
    receiptHandle,
    body,
    attributes: { ApproximateReceiveCount: String(receives) },
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn(queue),
  }) as SQSRecord
