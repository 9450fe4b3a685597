import * as v from 'valibot'
import { SandboxReport } from '../domain/banks/sandbox-outcome.ts'
import { Reference } from '../domain/ids.ts'
import { ProviderId } from '../domain/providers/provider.ts'
import { BatchId } from '../domain/settlement/batch.ts'
import { Day } from '../domain/time.ts'

/**
 * Every queue and the shape of its messages. A message names what is to be looked at and never
 * says how it stands: whoever takes it reads the item.
 */

const SubmissionMessage = v.object({
  reference: Reference,
  /** It may have been handed over before: the bank is asked first. */
  resubmission: v.optional(v.literal(true)),
})

const TimeoutMessage = v.object({
  reference: Reference,
  phase: v.picklist(['approval', 'processing']),
})

const EventNumber = v.pipe(v.number(), v.integer(), v.minValue(0))

const EventMessage = v.object({
  reference: Reference,
  /** The number of the event within its debit. */
  n: EventNumber,
  /** The last of several events that one write made: their first attempts keep their order. */
  through: v.optional(EventNumber),
  /** The attempt this message asks for, from 1. */
  attempt: v.pipe(v.number(), v.integer(), v.minValue(1)),
})

const RecoveryMessage = v.object({
  provider: ProviderId,
  id: v.string(),
  /** The page this message asks for, from 0. */
  page: EventNumber,
})

export const messages = {
  /** Pending debits, to be handed to their bank. */
  submissions: SubmissionMessage,
  /** Clocks to be set. */
  timeouts: TimeoutMessage,
  /** Clocks that ran out. */
  expiries: TimeoutMessage,
  'webhooks-high': EventMessage,
  'webhooks-medium': EventMessage,
  'webhooks-low': EventMessage,
  /** Events for receivers that are slow to answer: they wait apart from those of others. */
  'webhooks-sidelined': EventMessage,
  /** Pages of deliveries to be taken up again. */
  recoveries: RecoveryMessage,
  /** It is time for the settlement of the days before today. */
  'settlement-runs': v.object({}),
  /** Providers whose batch of a day is to be built. */
  settlements: v.object({ provider: ProviderId, date: Day }),
  /** Batches to be paid. */
  payments: v.object({ batch: BatchId }),
  /** Debits whose refund must be sent to the bank. */
  refunds: v.object({ reference: Reference }),
  /** It is time to hold yesterday against what must hold. */
  reconciliations: v.object({}),
  /** It is time to look for what was lost. */
  sweeps: v.object({}),
  /** What the sandbox bank is going to report. */
  'sandbox-outcomes': SandboxReport,
} as const

export type QueueName = keyof typeof messages
export type Message<Q extends QueueName> = v.InferOutput<(typeof messages)[Q]>
