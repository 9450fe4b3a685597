import * as v from 'valibot'
import { SandboxReport } from '../domain/banks/sandbox-outcome.ts'
import { Reference } from '../domain/ids.ts'
import { ProviderId } from '../domain/providers/provider.ts'
import { BatchId, Day } from '../domain/settlement/batch.ts'

/**
 * Every queue and the shape of its messages. A message names what is to be looked at and never
 * says how it stands: whoever takes it reads the item.
 */

const Submission = v.object({
  reference: Reference,
  /** It may have been handed over before: the bank is asked first. */
  again: v.optional(v.literal(true)),
})

const AboutClock = v.object({ reference: Reference, phase: v.picklist(['approval', 'processing']) })

const EventNumber = v.pipe(v.number(), v.integer(), v.minValue(0))

const AboutEvent = v.object({
  reference: Reference,
  /** The number of the event within its debit. */
  n: EventNumber,
  /** The last of several events that one write made: their first attempts keep their order. */
  through: v.optional(EventNumber),
  /** The attempt this message asks for, from 1. */
  attempt: v.pipe(v.number(), v.integer(), v.minValue(1)),
})

const AboutRecovery = v.object({
  provider: ProviderId,
  id: v.string(),
  /** The page this message asks for, from 0. */
  page: EventNumber,
})

export const messages = {
  /** Pending debits, to be handed to their bank. */
  submissions: Submission,
  /** Clocks to be set. */
  timeouts: AboutClock,
  /** Clocks that ran out. */
  expiries: AboutClock,
  'webhooks-high': AboutEvent,
  'webhooks-medium': AboutEvent,
  'webhooks-low': AboutEvent,
  /** Events for receivers that are slow to answer: they wait apart from those of others. */
  'webhooks-sidelined': AboutEvent,
  /** Pages of deliveries to be taken up again. */
  recoveries: AboutRecovery,
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
