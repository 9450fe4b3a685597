import { type Debit, deadline } from '../domain/debits/debit.ts'
import { clocks } from '../domain/debits/lifecycle.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { type Delivery, isSubscribed, newDelivery, redeliver } from '../domain/webhooks/delivery.ts'
import type { ProviderEvent } from '../domain/webhooks/event.ts'
import { log } from '../log.ts'
import { measure } from '../metrics.ts'
import { submission } from '../queues/outbox.ts'
import { sendAllOrThrow } from '../queues/send.ts'
import { environment } from '../runtime.ts'
import { findDeliveries, replaceDelivery } from '../store/webhooks/deliveries.ts'
import { appendToFeed, feedSince, isInFeed } from '../store/webhooks/feed.ts'
import { findWebhookSettings } from '../store/webhooks/webhooks.ts'
import { SWEEP_GRACE_SECONDS } from '../store/work-index.ts'
import { debitEvents } from '../views/webhook-payload.ts'

/**
 * Finds what should have followed from a debit and did not: an event that was not told, a
 * submission that led nowhere. It is done anew; whoever does it bears a repeat.
 * @param since what happened before is left alone
 * @returns the references of which something was missing
 */
export const repair = async (
  debits: readonly Debit[],
  now: Date,
  since = newsSince(now),
): Promise<Set<string>> => {
  const missing = await repairEvents(debits.flatMap(debitEvents), now, since)
  const stuck = debits.filter((debit) => isStuck(debit, now))
  await sendAllOrThrow(stuck.map((debit) => submission(debit, { resubmission: true })))
  return new Set([...missing, ...stuck.map(({ facts }) => facts.reference)])
}

/** Whether what follows from an instant has had the time to happen. */
export const graceElapsed = (at: Date, now: Date): boolean =>
  now.getTime() - at.getTime() >= SWEEP_GRACE_SECONDS * 1000

/**
 * What happened longer ago is history: its pages of the feed may be gone, and an event of then must
 * not reach a provider as news.
 */
const NEWS_MS = 3 * 86_400_000

const newsSince = (now: Date): Date => new Date(now.getTime() - NEWS_MS)

/** A debit that is too late to submit waits for its timeout, or for the end of a hold. */
const isStuck = (debit: Debit, now: Date): boolean => {
  const last = debit.history.at(-1)
  const due = deadline(debit, 'processing', clocks(environment.timeScale))
  const isWaiting = debit.status === 'pending' && due !== undefined && due > now
  return isWaiting && last !== undefined && graceElapsed(last.at, now)
}

/**
 * The same for events alone: one that is not in its provider's feed is put there, one that was
 * never tried to be delivered is put on record as due. From there the stream has it tried, and the
 * sweep looks after it until it is: a debit that was completed is looked at no second time.
 */
export const repairEvents = async (
  events: readonly ProviderEvent[],
  now: Date,
  since = newsSince(now),
): Promise<Set<string>> => {
  const ripe = events.filter(({ at }) => graceElapsed(at, now) && at >= since)
  const byProvider = Map.groupBy(ripe, ({ provider }) => provider)
  const missing = await Promise.all(
    [...byProvider].map(([provider, theirs]) => repairProvider(provider, theirs, now)),
  )
  return new Set(missing.flat().map(({ reference }) => reference))
}

const repairProvider = async (
  provider: ProviderId,
  events: readonly ProviderEvent[],
  now: Date,
): Promise<ProviderEvent[]> => {
  const oldest = Math.min(...events.map(({ at }) => at.getTime()))
  const [feed, untried] = await Promise.all([
    feedSince(provider, new Date(oldest)),
    untriedOf(provider, events, now),
  ])
  const untold = events.filter((event) => !isInFeed(feed, event))
  if (untold.length > 0) await appendToFeed(provider, untold, now)
  await Promise.all(untried.map(({ record }) => replaceDelivery(undefined, record)))
  const missing = [...untold, ...untried.map(({ event }) => event)]
  if (missing.length > 0) {
    log.warn('events relayed by the sweep', { provider, events: missing.map(nameOf) })
    measure({ SweepRepaired: missing.length })
  }
  return missing
}

const nameOf = ({ reference, n }: { reference: string; n: number }): string => `${reference}#${n}`

/** Events that the provider takes and that have no delivery record, with the one they lack. */
const untriedOf = async (
  provider: ProviderId,
  events: readonly ProviderEvent[],
  now: Date,
): Promise<{ event: ProviderEvent; record: Delivery }[]> => {
  const webhook = await findWebhookSettings(provider)
  if (!webhook) return []
  // What happened before the webhook was set was never owed to it.
  const isOwed = ({ at, type }: ProviderEvent): boolean =>
    isSubscribed(webhook, type) && (webhook.since === undefined || at >= webhook.since)
  const wanted = events.filter(isOwed)
  const tried = new Set((await findDeliveries(wanted)).map(nameOf))
  return wanted
    .filter((event) => !tried.has(nameOf(event)))
    .map((event) => ({ event, record: redeliver(newDelivery(event, webhook), now) }))
}
