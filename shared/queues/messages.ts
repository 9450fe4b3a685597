import * as v from 'valibot'
import { SandboxReport } from '../domain/banks/sandbox-outcome.ts'
import { BatchId, Reference } from '../domain/ids.ts'
import { ProviderId } from '../domain/providers/provider.ts'
import { Day } from '../domain/time.ts'

/** The queues and their messages, which carry ids and no state: consumers read the item. */

const SubmissionMessage = v.object({
  reference: Reference,
  /** An earlier submission may have reached the bank: query the bank first. */
  resubmission: v.optional(v.literal(true)),
})

const EventNumber = v.pipe(v.number(), v.integer(), v.minValue(0))

const EventMessage = v.object({
  reference: Reference,
  /** The index of the event in its debit's history, or SETTLED for a batch. */
  n: EventNumber,
  /** The last of several events of one write: one worker attempts them in order. */
  through: v.optional(EventNumber),
  /** The attempt to make, from 1. */
  attempt: v.pipe(v.number(), v.integer(), v.minValue(1)),
})

const RecoveryMessage = v.object({
  provider: ProviderId,
  id: v.string(),
  /** The page to recover, from 0. */
  page: EventNumber,
})

export const messages = {
  /** Pending debits to submit to their bank. */
  submissions: SubmissionMessage,
  /** Submissions to slow banks, with separate workers. */
  'submissions-sidelined': SubmissionMessage,
  /** Debits whose timeouts to schedule if they are still open. */
  timeouts: v.object({ reference: Reference }),
  /** Timeouts that fired. */
  expiries: v.object({ reference: Reference, phase: v.picklist(['approval', 'processing']) }),
  /** Events to append to the feed of their provider, which has one message group or several. */
  'feeds.fifo': v.object({
    provider: ProviderId,
    events: v.array(v.object({ reference: Reference, n: EventNumber })),
  }),
  'webhooks-high': EventMessage,
  'webhooks-medium': EventMessage,
  'webhooks-low': EventMessage,
  /** Events of slow receivers, with separate workers. */
  'webhooks-sidelined': EventMessage,
  /** Pages of failed deliveries to retry. */
  recoveries: RecoveryMessage,
  /** The nightly trigger: settle the days before today. */
  'settlement-runs': v.object({}),
  settlements: v.object({ provider: ProviderId, date: Day }),
  payments: v.object({ batch: BatchId }),
  /** Debits whose refund to send to the bank. */
  refunds: v.object({ reference: Reference }),
  /** The daily trigger: reconcile yesterday. */
  reconciliations: v.object({}),
  /** Parts of a reconciliation to perform. Without a part: all are stored, so the run ends. */
  'reconciliation-parts': v.object({ run: v.string(), part: v.optional(v.string()) }),
  /** The trigger of each minute: find lost work. */
  sweeps: v.object({}),
  /** Outcomes that the sandbox bank will report. */
  'sandbox-outcomes': SandboxReport,
} as const

export type QueueName = keyof typeof messages
export const queueNames = Object.keys(messages) as QueueName[]

/** SQS requires the suffix. A FIFO queue delivers the messages of a group in order, one batch at a time. */
export const isFifo = (queue: string): boolean => queue.endsWith(FIFO)
const FIFO = '.fifo'

type DeadLetterQueue = `${string}-dead-letters${'' | typeof FIFO}`

/** Returns the dead-letter queue of a queue: its name, ARN or URL. That of a FIFO queue must be one too. */
export const deadLetters = (queue: string): DeadLetterQueue =>
  isFifo(queue) ? `${queue.slice(0, -FIFO.length)}-dead-letters${FIFO}` : `${queue}-dead-letters`

export type Message<Q extends QueueName> = v.InferOutput<(typeof messages)[Q]>

/** @throws Error without any text of the message, because the error is logged */
export const parseMessage = <T>(schema: v.GenericSchema<unknown, T>, body: string): T => {
  try {
    return v.parse(schema, JSON.parse(body))
  } catch {
    throw new Error('Malformed message')
  }
}

/** Returns the ids of a message, for logs and operators; none for one that cannot be parsed. */
export const subjectOf = (schema: v.GenericSchema, body: string): Record<string, string> => {
  try {
    const members = Object.entries(
      parseMessage<object>(schema as v.GenericSchema<unknown, object>, body),
    )
    return Object.fromEntries(members.filter(([name]) => SUBJECTS.has(name)))
  } catch {
    return {}
  }
}

const SUBJECTS = new Set(['reference', 'batch', 'provider'])
