import { type Debit, deadline } from '../domain/debits/debit.ts'
import { clocks } from '../domain/debits/lifecycle.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { DAY_MS } from '../domain/time.ts'
import { isSubscribed, newDelivery, redeliver } from '../domain/webhooks/delivery.ts'
import type { ProviderEvent } from '../domain/webhooks/event.ts'
import { log } from '../log.ts'
import { submission } from '../queues/outbox.ts'
import { sendAllOrThrow } from '../queues/send.ts'
import { environment } from '../runtime.ts'
import { findDeliveries, replaceDelivery } from '../store/webhooks/deliveries.ts'
import { appendToFeed, isInFeed, loadFeedSince } from '../store/webhooks/feed.ts'
import { findWebhookSettings } from '../store/webhooks/webhooks.ts'
import { SWEEP_GRACE_SECONDS } from '../store/work-index.ts'
import { debitEvents } from '../views/webhook-payload.ts'

/**
 * Repeats the missing follow-up work of debits: unpublished events and lost submissions. Consumers
 * tolerate repeats. Ignores events before `since`.
 * @returns the references of the debits with missing work
 */
export const repair = async (debits: readonly Debit[], now: Date, since = newsSince(now)) => {
  const missing = await repairEvents(debits.flatMap(debitEvents), now, since)
  const stuck = debits.filter((debit) => isStuck(debit, now))
  await sendAllOrThrow(stuck.map((debit) => submission(debit, { resubmission: true })))
  return new Set([...missing, ...stuck.map(({ facts }) => facts.reference)])
}

/** Reports whether the follow-up work of a time should be done by now. */
export const graceElapsed = (at: Date, now: Date): boolean =>
  now.getTime() - at.getTime() >= SWEEP_GRACE_SECONDS * 1000

/** Older events must not reach a provider as news, and their feed pages may have expired. */
const NEWS_MS = 3 * DAY_MS

const newsSince = (now: Date): Date => new Date(now.getTime() - NEWS_MS)

/** Reports whether a submission is overdue. After its deadline a debit waits for its timeout. */
const isStuck = (debit: Debit, now: Date): boolean => {
  const last = debit.history.at(-1)
  const due = deadline(debit, 'processing', clocks(environment.timeScale))
  const isWaiting = debit.status === 'pending' && due !== undefined && due > now
  return isWaiting && last !== undefined && graceElapsed(last.at, now)
}

/**
 * Appends missing events to their provider's feed and creates due delivery records for events without
 * one. The relay sends the attempts, and the work index tracks them: completed debits are swept once.
 */
export const repairEvents = async (
  events: readonly ProviderEvent[],
  now: Date,
  since = newsSince(now),
): Promise<Set<string>> => {
  const eligible = events.filter(({ at }) => graceElapsed(at, now) && at >= since)
  const byProvider = Map.groupBy(eligible, ({ provider }) => provider)
  const missing = await Promise.all(
    [...byProvider].map(([provider, ownEvents]) => repairProvider(provider, ownEvents, now)),
  )
  return new Set(missing.flat().map(({ reference }) => reference))
}

const repairProvider = async (
  provider: ProviderId,
  events: readonly ProviderEvent[],
  now: Date,
): Promise<ProviderEvent[]> => {
  const oldest = Math.min(...events.map(({ at }) => at.getTime()))
  const [feed, unrecorded] = await Promise.all([
    loadFeedSince(provider, new Date(oldest)),
    unrecordedOf(provider, events, now),
  ])
  const unpublished = events.filter((event) => !isInFeed(feed, event))
  if (unpublished.length > 0) await appendToFeed(provider, unpublished, now)
  await Promise.all(unrecorded.map(({ record }) => replaceDelivery(undefined, record)))
  const missing = [...unpublished, ...unrecorded.map(({ event }) => event)]
  if (missing.length > 0) {
    const events = missing.map(nameOf)
    log.warn('events relayed by the sweep', { provider, events }, { SweepRepaired: missing.length })
  }
  return missing
}

const nameOf = ({ reference, n }: { reference: string; n: number }): string => `${reference}#${n}`

/** Returns the subscribed events that have no delivery record, each with a new record. */
const unrecordedOf = async (provider: ProviderId, events: readonly ProviderEvent[], now: Date) => {
  const webhook = await findWebhookSettings(provider)
  if (!webhook) return []
  // A webhook gets only events that happened after it was set.
  const isDeliverable = ({ at, type }: ProviderEvent): boolean =>
    isSubscribed(webhook, type) && (webhook.since === undefined || at >= webhook.since)
  const deliverable = events.filter(isDeliverable)
  const recorded = new Set((await findDeliveries(deliverable)).map(nameOf))
  return deliverable
    .filter((event) => !recorded.has(nameOf(event)))
    .map((event) => ({ event, record: redeliver(newDelivery(event, webhook), now) }))
}
