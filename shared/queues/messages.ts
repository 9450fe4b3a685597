import * as v from 'valibot'
import { Reference } from '../domain/reference.ts'
import { SandboxReport } from '../domain/sandbox-outcome.ts'

/**
 * Every queue and the shape of its messages. A message names what is to be looked at and never
 * says how it stands: whoever takes it reads the item.
 */

const AboutDebit = v.object({ reference: Reference })

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

export const messages = {
  /** Pending debits, to be handed to their bank. */
  submissions: AboutDebit,
  /** Clocks to be set. */
  timeouts: AboutClock,
  /** Clocks that ran out. */
  expiries: AboutClock,
  'webhooks-high': AboutEvent,
  'webhooks-medium': AboutEvent,
  'webhooks-low': AboutEvent,
  /** What the sandbox bank is going to report. */
  'sandbox-outcomes': SandboxReport,
} as const

export type QueueName = keyof typeof messages
export type Message<Q extends QueueName> = v.InferOutput<(typeof messages)[Q]>
