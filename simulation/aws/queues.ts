import type { SQSRecord } from 'aws-lambda'
import { type QueueRow, queueRows } from '../../infra/definitions/queues.ts'
import { messages, type QueueName } from '../../shared/queues/messages.ts'
import { type Clock, cancel, type Timer } from '../engine/clock.ts'
import type { Faults } from '../engine/faults.ts'
import type { Random } from '../engine/random.ts'

/** SQS standard queues, with delays, visibility timeouts, duplicates and redrive. */

export type Message = {
  readonly id: string
  readonly queue: QueueName
  readonly body: string
  receives: number
  visibleAt: number
  /** The timer of its next delivery. */
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
  /** Offers a visible message to a job. */
  onVisible: (message: Message) => void
}

export type Queues = ReturnType<typeof newQueues>

export const newQueues = ({ clock, random, faults, onVisible }: Deps) => {
  const byReceipt = new Map<string, Message>()
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
    /** Sends a message, which may be lost, late or duplicated. */
    put: (queue: QueueName, body: string, delaySeconds = 0): void => {
      if (faults.strikes('message lost') || faults.loses(queue)) return
      count += 1
      const id = `message-${count}`
      const late = faults.strikes('message late') ? random.between(0, 120_000) : 0
      const at = clock.now() + delaySeconds * 1000 + late + random.between(5, 60)
      add(id, queue, body, at)
      if (faults.strikes('message twice')) {
        // At once, during the first delivery, or later.
        add(
          id,
          queue,
          body,
          at + random.pick([0, random.between(0, 1_000), random.between(0, 300_000)]),
        )
      }
    },
    /** Starts the visibility timeouts. */
    receive: (received: readonly Message[]): SQSRecord[] =>
      received.map((message) => {
        message.receives += 1
        offerAt(message, clock.now() + rowOf(message.queue).visibilitySeconds * 1000)
        return recordOf(message, receipts.get(message) ?? '')
      }),
    /** Deletes completed messages and dead letters; the others become visible again. */
    settle: (received: readonly Message[], failed: ReadonlySet<string>): void => {
      for (const message of received) {
        const isDeadLetter = message.receives >= rowOf(message.queue).maxReceiveCount
        if (!failed.has(message.id) || isDeadLetter) remove(message)
      }
    },
    hide: (receipt: string, seconds: number): void => {
      const message = byReceipt.get(receipt)
      if (message) offerAt(message, clock.now() + seconds * 1000)
    },
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
