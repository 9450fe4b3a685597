import { type Debit, mayBeSubmitted, stateAt } from '../domain/debits/debit.ts'
import { checkTransition, lifecycle } from '../domain/debits/lifecycle.ts'
import { clocks } from '../domain/debits/timeouts.ts'
import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { DAY_MS, HOUR_MS } from '../domain/time.ts'
import { type Delivery, isOwed, newDelivery, redeliver } from '../domain/webhooks/delivery.ts'
import type { ProviderEvent } from '../domain/webhooks/event.ts'
import { FEED_DAYS } from '../domain/webhooks/feed.ts'
import { log } from '../log.ts'
import { submission } from '../queues/outbox.ts'
import { sendAllOrThrow } from '../queues/send.ts'
import { environment } from '../runtime.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { findSweepProgress, sweptBefore } from '../store/sweep-progress.ts'
import { findWithDeliveries, replaceDelivery } from '../store/webhooks/deliveries.ts'
import { appendToFeed } from '../store/webhooks/feed.ts'
import { missingInFeed } from '../store/webhooks/feed-search.ts'
import { findWebhookSettings } from '../store/webhooks/webhooks.ts'
import { SWEEP_GRACE_SECONDS } from '../store/work-index.ts'
import { debitEvents } from '../views/webhook-payload.ts'

/** Logs and counts a fault. Its caller continues with other work. */
export const logFault = (subject: string, error: unknown): void =>
  log.error('fault', { job: 'sweep', subject: [subject], error }, { SweepFaults: 1 })

/** Logs a fault, so that other work continues. */
export const withFaults = async (
  subject: string,
  work: () => Promise<unknown>,
  afterFault?: () => Promise<unknown>,
): Promise<void> => {
  try {
    await work()
  } catch (error) {
    logFault(subject, error)
    if (afterFault) await withFaults(subject, afterFault)
  }
}

/** A debit and the recorded deliveries of its events. */
export type CheckedDebit = { debit: Debit; deliveries: readonly Delivery[] }

/** The references with missing follow-up work, and those whose repair failed. */
export type Repair = { missing: ReadonlySet<string>; failed: ReadonlySet<string> }

type RepairOptions = {
  since?: (debit: Debit) => Date
  timeIsUp?: () => boolean
  /** Debits whose submission this run has sent. */
  resumed?: ReadonlySet<Reference>
}

const WRITES_AT_ONCE = 10

/**
 * Repeats the missing follow-up work of a provider's debits: unpublished events and lost submissions.
 * Consumers tolerate repeats. Reads the feed once.
 * @param since returns the time before which events of a debit are ignored
 */
export const repair = async (
  provider: ProviderId,
  debits: readonly CheckedDebit[],
  now: Date,
  { since = newsSince(now), timeIsUp, resumed }: RepairOptions = {},
): Promise<Repair> => {
  const events = debits.flatMap(({ debit, deliveries }) => {
    const recorded = new Set(deliveries.map(({ n }) => n))
    const first = since(debit)
    return debitEvents(debit)
      .filter(({ at }) => at >= first)
      .map((event) => ({ ...event, isRecorded: recorded.has(event.n) }))
  })
  const { missing, failed } = await repairEvents(provider, events, now, timeIsUp)
  const stuck = debits.filter(({ debit }) => isStuck(debit, now))
  await sendAllOrThrow(
    stuck
      .filter(({ debit }) => !resumed?.has(debit.facts.reference))
      .map(({ debit }) => submission(debit.facts, { resubmission: true })),
  )
  return {
    missing: new Set([...missing, ...stuck.map(({ debit }) => debit.facts.reference)]),
    failed,
  }
}

/**
 * Repairs a completed debit that the sweep has not reached. A reversal then moves it in the index that
 * the sweep walks, and the sweep checks its last hour only.
 */
export const repairBeforeReversal = async (reference: Reference, now: Date): Promise<void> => {
  const [{ debit, deliveries }, progress] = await Promise.all([
    findWithDeliveries(reference),
    findSweepProgress(),
  ])
  if (!debit || checkTransition(debit.status, 'reversed') !== 'allowed') return
  const { provider } = debit.facts
  if (stateAt(debit).updatedAt < sweptBefore(progress, provider)) return
  const { failed } = await repair(provider, [{ debit, deliveries }], now)
  if (failed.size > 0) throw new Error(`${reference} could not be repaired`)
}

/** Reports whether the follow-up work of a time should be done by now. */
export const graceElapsed = (at: Date, now: Date): boolean =>
  now.getTime() - at.getTime() >= SWEEP_GRACE_SECONDS * 1000

/** Older events must not reach a provider as news, and their feed pages may have expired. */
const NEWS_MS = 3 * DAY_MS

/**
 * A debit is checked before it is reversed ({@link repairBeforeReversal}), so only the last hour of a reversed
 * one is checked: the feed since its creation may be days long.
 */
const newsSince =
  (now: Date) =>
  ({ status, history }: Debit): Date => {
    const news = now.getTime() - NEWS_MS
    const last = history.at(-1)?.at ?? now
    const isLate = lifecycle[status].settlement === 'adjust'
    return new Date(isLate ? Math.max(news, last.getTime() - HOUR_MS) : news)
  }

/** Reports whether a submission is overdue. */
const isStuck = (debit: Debit, now: Date): boolean => {
  const last = debit.history.at(-1)
  const isWaiting = mayBeSubmitted(debit, now, clocks(environment.timeScale))
  return isWaiting && last !== undefined && graceElapsed(last.at, now)
}

/** An event, and whether a delivery record has it. */
type CheckedEvent = ProviderEvent & { isRecorded: boolean }

/**
 * Appends missing events to their provider's feed, unless it no longer lists their time, and creates due delivery
 * records for events without one. The relay sends the attempts, and the work index tracks them: completed debits
 * are swept once.
 */
export const repairEvents = async (
  provider: ProviderId,
  events: readonly CheckedEvent[],
  now: Date,
  timeIsUp?: () => boolean,
): Promise<Repair> => {
  const eligible = events.filter(({ at }) => graceElapsed(at, now))
  if (eligible.length === 0) return { missing: new Set(), failed: new Set() }
  const listedSince = now.getTime() - FEED_DAYS * DAY_MS
  const listed = eligible.filter(({ at }) => at.getTime() >= listedSince)
  const [unpublished, unrecorded] = await Promise.all([
    missingInFeed(provider, listed, timeIsUp),
    unrecordedOf(provider, eligible, now),
  ])
  if (unpublished.length > 0) await appendToFeed(provider, unpublished, now)
  const failed = new Set<Reference>()
  await mapConcurrent(unrecorded, WRITES_AT_ONCE, async ({ event, record }) => {
    try {
      await replaceDelivery(undefined, record)
    } catch (error) {
      failed.add(event.reference)
      logFault(event.reference, error)
    }
  })
  const missing = [...unpublished, ...unrecorded.map(({ event }) => event)]
  if (missing.length > 0) {
    const events = missing.map(({ reference, n }) => `${reference}#${n}`)
    log.warn('events relayed by the sweep', { provider, events }, { SweepRepaired: missing.length })
  }
  return { missing: new Set(missing.map(({ reference }) => reference)), failed }
}

/** Returns the subscribed events that have no delivery, each with a new record. */
const unrecordedOf = async (provider: ProviderId, events: readonly CheckedEvent[], now: Date) => {
  const webhook = await findWebhookSettings(provider)
  if (!webhook) return []
  return events
    .filter((event) => !event.isRecorded && isOwed(webhook, event))
    .map((event) => ({ event, record: redeliver(newDelivery(event, webhook), now) }))
}
