import type { Debit } from '../domain/debits/debit.ts'
import type { Refund } from '../domain/debits/refund.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Batch, BatchId } from '../domain/settlement/batch.ts'
import type { Day } from '../domain/time.ts'
import type { Delivery } from '../domain/webhooks/delivery.ts'
import type { ProviderEvent } from '../domain/webhooks/event.ts'
import { eventTypes } from '../domain/webhooks/event-type.ts'
import type { Recovery } from '../domain/webhooks/recovery.ts'
import type { Outgoing } from './send.ts'

/**
 * What follows from what stands in the table, as messages: said once, for the relay, which sees
 * each change, and for the sweep, which looks for what the relay never saw.
 */

/** A message about an event, in the queue of its priority. */
export type EventMessage = Extract<Outgoing, { queue: `webhooks-${string}` }>

/**
 * Asks for the first attempts at events of a debit that follow each other, in one message, so that
 * they keep their order.
 */
export const firstAttempts = ([first, ...others]: readonly [
  ProviderEvent,
  ...ProviderEvent[],
]): EventMessage => {
  const { reference, n, provider } = first
  const last = others.at(-1) ?? first
  const message = { reference, n, attempt: 1, ...(last.n > n ? { through: last.n } : {}) }
  return { queue: `webhooks-${eventTypes[last.type].priority}`, message, group: provider }
}

/** Submits a pending debit. In a group of its bank and provider, a busy provider delays no other. */
export const submission = (
  { facts }: Debit,
  { resubmission }: { resubmission: boolean },
): Outgoing => ({
  queue: 'submissions',
  message: { reference: facts.reference, ...(resubmission ? { resubmission } : {}) },
  group: `${facts.bank.identifier}#${facts.provider}`,
})

/** A clock to be set. */
export const startTimeout = ({ facts }: Debit, phase: 'approval' | 'processing'): Outgoing => ({
  queue: 'timeouts',
  message: { reference: facts.reference, phase },
  group: facts.provider,
})

const secondsUntil = (at: Date, now: Date): number =>
  Math.max(0, (at.getTime() - now.getTime()) / 1000)

/** The next attempt of a delivery that has one to come. */
export const nextAttempt = (delivery: Delivery, now: Date): EventMessage[] => {
  const { nextAttemptAt, last, reference, n, provider, event, attemptCount } = delivery
  if (!nextAttemptAt) return []
  // SQS takes whole seconds: a clock some ms behind that of the attempt must not add one.
  const endedAt = last && new Date(last.at.getTime() + last.milliseconds)
  const delayMax = endedAt ? secondsUntil(nextAttemptAt, endedAt) : Number.POSITIVE_INFINITY
  return [
    {
      queue: `webhooks-${eventTypes[event].priority}`,
      message: { reference, n, attempt: attemptCount + 1 },
      group: provider,
      delaySeconds: Math.min(secondsUntil(nextAttemptAt, now), delayMax),
    },
  ]
}

/** The next page of a recovery that is not done. */
export const nextPage = (recovery: Recovery, now: Date): Outgoing[] => {
  const { status, provider, id, page, runAt } = recovery
  if (status !== 'running') return []
  const message = { provider, id, page }
  return [{ queue: 'recoveries', message, group: provider, delaySeconds: secondsUntil(runAt, now) }]
}

/** What a batch waits for that somebody was at work on. */
export const resumeBatch = (batch: Batch): Outgoing[] => {
  const { id, provider, date, status, reportedAt } = batch
  if (status === 'pending' && !reportedAt) return [buildBatchMessage(provider, date)]
  return status === 'processing' ? [payBatchMessage(id, provider)] : []
}

/** A batch of a provider and a day to be built. */
export const buildBatchMessage = (provider: ProviderId, date: Day): Outgoing => ({
  queue: 'settlements',
  message: { provider, date },
  group: provider,
})

/** A batch to be paid. */
export const payBatchMessage = (batch: BatchId, provider: ProviderId): Outgoing => ({
  queue: 'payments',
  message: { batch },
  group: provider,
})

/** A refund to be sent to its bank, in a group of its bank: a bank that is down delays no other. */
export const refundMessages = ({ reference, bank, status }: Refund): Outgoing[] =>
  status === 'pending' || status === 'processing'
    ? [{ queue: 'refunds', message: { reference }, group: bank }]
    : []

/** The same message for the queue where slow receivers wait apart. */
export const toSidelined = (about: EventMessage): EventMessage => ({
  ...about,
  queue: 'webhooks-sidelined',
})
