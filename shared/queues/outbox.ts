import { OUTCOME_SECONDS, type SandboxReport } from '../domain/banks/sandbox-outcome.ts'
import { type Complete, defined } from '../domain/complete.ts'
import { type Debit, type Facts, stateAt } from '../domain/debits/debit.ts'
import type { WaitsFor } from '../domain/debits/lifecycle.ts'
import { type Refund, refundStatuses } from '../domain/debits/refund.ts'
import { clocks } from '../domain/debits/timeouts.ts'
import type { BatchId } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { type Batch, payoutOf } from '../domain/settlement/batch.ts'
import { type Day, secondsAfter } from '../domain/time.ts'
import type { Delivery } from '../domain/webhooks/delivery.ts'
import type { ProviderEvent } from '../domain/webhooks/event.ts'
import { eventTypes } from '../domain/webhooks/event-type.ts'
import type { Recovery } from '../domain/webhooks/recovery.ts'
import { environment } from '../runtime.ts'
import type { Message } from './messages.ts'
import type { Outgoing } from './send.ts'

/** Messages derived from items: the relay sends them for each change, the sweep for missed ones. */

/** A message about an event, in the queue of its priority. */
export type EventMessage = Extract<Outgoing, { queue: `webhooks-${string}` }>

export const isAttempt = (message: Outgoing): message is EventMessage =>
  message.queue.startsWith('webhooks-')

/** Requests the first attempts at consecutive events in one message, to keep their order. */
export const firstAttempts = ([first, ...others]: readonly [
  ProviderEvent,
  ...ProviderEvent[],
]): EventMessage => {
  const { reference, n, provider } = first
  const last = others.at(-1) ?? first
  const message = defined<Complete<EventMessage['message']>>({
    reference,
    n,
    attempt: 1,
    through: last.n > n ? last.n : undefined,
  })
  return { queue: `webhooks-${eventTypes[last.type].priority}`, message, group: provider }
}

type Submitted = Pick<Facts, 'reference' | 'provider' | 'bank'>

const submissionMessage = ({ reference }: Submitted, resubmission: boolean) =>
  defined<Complete<Message<'submissions'>>>({ reference, resubmission: resubmission || undefined })

/** Submits a pending debit. Groups by bank and provider, so a busy provider does not delay others. */
export const submission = (
  debit: Submitted,
  { resubmission, delaySeconds = 0 }: { resubmission: boolean; delaySeconds?: number },
): Outgoing => ({
  queue: 'submissions',
  message: submissionMessage(debit, resubmission),
  group: `${debit.bank.identifier}#${debit.provider}`,
  delaySeconds,
})

/** Runs a timeout at once. */
export const expiry = (message: Message<'expiries'>): Outgoing => ({
  queue: 'expiries',
  message,
  group: message.reference,
})

/** Submits a debit of a slow bank. Groups by bank, so that one slow bank does not delay another. */
export const sidelinedSubmission = (
  { facts }: Debit,
  { repeated, delaySeconds }: { repeated: boolean; delaySeconds: number },
): Outgoing => ({
  queue: 'submissions-sidelined',
  message: submissionMessage(facts, repeated),
  group: facts.bank.identifier,
  delaySeconds,
})

/** Reports the outcome of the sandbox bank, after at least 1 s: the submission is stored before. */
export const sandboxOutcome = (report: SandboxReport): Outgoing => ({
  queue: 'sandbox-outcomes',
  message: report,
  group: report.reference,
  delaySeconds: Math.max(1, OUTCOME_SECONDS / environment.timeScale),
})

/** The share of the first timeout after which open debits get schedules; most debits have ended. */
const SCHEDULING_SHARE = 0.8
/** A debit that starts processing later than this may miss that time. */
const LATE_SHARE = 0.7

const whenOpen = ({ facts }: Debit, delaySeconds: number): Outgoing => ({
  queue: 'timeouts',
  message: { reference: facts.reference },
  group: facts.provider,
  delaySeconds,
})

/**
 * Schedules the timeouts of a new debit four minutes after its creation, if it is still open then, and
 * those of a debit that starts processing so late at once.
 */
export const timeouts = (debit: Debit, waitsFor: WaitsFor, now: Date): Outgoing[] => {
  const { createdAt, processedAt } = stateAt(debit)
  const { approvalSeconds } = clocks(environment.timeScale)
  switch (waitsFor) {
    case 'submission': {
      const at = secondsAfter(createdAt, SCHEDULING_SHARE * approvalSeconds)
      return [whenOpen(debit, secondsUntil(at, now))]
    }
    case 'outcome': {
      const late = secondsAfter(createdAt, LATE_SHARE * approvalSeconds)
      return processedAt && processedAt >= late ? [whenOpen(debit, 0)] : []
    }
    case null:
      return []
  }
}

/** Appends the events of one provider to its feed. */
export const feedEvents = (
  provider: ProviderId,
  events: readonly ProviderEvent[],
  group: string,
): Outgoing => ({
  queue: 'feeds.fifo',
  message: { provider, events: events.map(({ reference, n }) => ({ reference, n })) },
  group,
})

const secondsUntil = (at: Date, from: Date) => Math.max(0, (at.getTime() - from.getTime()) / 1000)

export const nextAttempt = (delivery: Delivery, now: Date): EventMessage[] => {
  const { nextAttemptAt, last, reference, n, provider, event, attemptCount } = delivery
  if (!nextAttemptAt) return []
  // SQS delays by whole seconds. A clock a few ms behind the attempt's must not add a second.
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

export const nextPage = (recovery: Recovery, now: Date): Outgoing[] => {
  const { status, provider, id, page, runAt } = recovery
  if (status !== 'running') return []
  const message = { provider, id, page }
  return [{ queue: 'recoveries', message, group: provider, delaySeconds: secondsUntil(runAt, now) }]
}

/** Resumes a batch that is not built or not paid yet. */
export const resumeBatch = (batch: Batch): Outgoing[] => {
  const { id, provider, date, reportedAt } = batch
  const payout = payoutOf(batch)
  if (payout === 'begins' && !reportedAt) return [buildBatchMessage(provider, date)]
  return payout === 'resumes' ? [payBatchMessage(id, provider)] : []
}

export const buildBatchMessage = (provider: ProviderId, date: Day): Outgoing => ({
  queue: 'settlements',
  message: { provider, date },
  group: provider,
})

export const payBatchMessage = (batch: BatchId, provider: ProviderId): Outgoing => ({
  queue: 'payments',
  message: { batch },
  group: provider,
})

/** Sends an open refund to its bank. Groups by bank, so a bank that is down does not delay others. */
export const refundMessages = ({ reference, bank, status }: Refund): Outgoing[] =>
  refundStatuses[status].isOpen ? [{ queue: 'refunds', message: { reference }, group: bank }] : []

export const toSidelined = (message: EventMessage): EventMessage => ({
  ...message,
  queue: 'webhooks-sidelined',
})

/** Requests a part of a reconciliation, or the end of its run. */
export const reconciliationMessage = (run: string, part?: string): Outgoing => ({
  queue: 'reconciliation-parts',
  message: defined<Complete<Message<'reconciliation-parts'>>>({ run, part }),
  group: part ?? run,
})
