import type { Debit } from '../domain/debit.ts'
import { isSubscribed } from '../domain/delivery.ts'
import type { FeedEntry } from '../domain/event-feed.ts'
import type { PartnerId } from '../domain/partner.ts'
import { log } from '../log.ts'
import { measure } from '../metrics.ts'
import { type AboutEvent, announce, submission } from '../queues/outbox.ts'
import { sendEvery } from '../queues/send.ts'
import { findDeliveries } from '../store/deliveries.ts'
import { appendToFeed, feedSince, isInFeed } from '../store/event-feed.ts'
import { GRACE_SECONDS } from '../store/watch.ts'
import { findWebhookSettings } from '../store/webhooks.ts'

/**
 * Finds what should have followed from a debit and did not: an event that is not in its partner's
 * feed, one that was never tried to be delivered, a submission that led nowhere. It is done anew;
 * whoever does it bears a repeat.
 * @returns the references of which something was missing
 */
export const repair = async (debits: readonly Debit[], now: Date): Promise<Set<string>> => {
  const ripe = debits.map((debit) => ({ debit, events: ripeEvents(debit, now) }))
  const byPartner = Map.groupBy(ripe, ({ debit }) => debit.facts.partner)
  const missing = await Promise.all(
    [...byPartner].map(([partner, theirs]) => repairPartner(partner, theirs, now)),
  )
  const submissions = debits.filter((debit) => isStuck(debit, now))
  await sendEvery(submissions.map((debit) => submission(debit, { again: true })))
  return new Set([...missing.flat(), ...submissions.map(({ facts }) => facts.reference)])
}

type Ripe = { debit: Debit; events: FeedEntry[] }

/** Whether what follows from an instant has had the time to happen. */
export const isRipe = (at: Date, now: Date): boolean =>
  now.getTime() - at.getTime() >= GRACE_SECONDS * 1000

/** Events that have had the time to be told. */
const ripeEvents = ({ facts, history }: Debit, now: Date): FeedEntry[] =>
  history.flatMap(({ at }, n) => (isRipe(at, now) ? [{ reference: facts.reference, n }] : []))

const isStuck = ({ status, history }: Debit, now: Date): boolean => {
  const last = history.at(-1)
  return status === 'pending' && last !== undefined && isRipe(last.at, now)
}

const repairPartner = async (
  partner: PartnerId,
  ripe: readonly Ripe[],
  now: Date,
): Promise<string[]> => {
  const events = ripe.flatMap((one) => one.events)
  if (events.length === 0) return []
  const oldest = Math.min(...ripe.map(({ debit }) => debit.history[0]?.at.getTime() ?? 0))
  const [feed, untried] = await Promise.all([
    feedSince(partner, new Date(oldest)),
    untriedEvents(partner, ripe),
  ])
  const untold = events.filter((event) => !isInFeed(feed, event))
  if (untold.length > 0) await appendToFeed(partner, untold, now)
  await sendEvery(untried)
  const missing: FeedEntry[] = [...untold, ...untried.map(({ message }) => message)]
  if (missing.length > 0) {
    const names = missing.map(({ reference, n }) => `${reference}#${n}`)
    log.warn('events relayed by the sweep', { partner, events: names })
    measure({ SweepRepaired: missing.length })
  }
  return missing.map(({ reference }) => reference)
}

/** The messages that ask for the first attempts at events that have no delivery record. */
const untriedEvents = async (partner: PartnerId, ripe: readonly Ripe[]): Promise<AboutEvent[]> => {
  const webhook = await findWebhookSettings(partner)
  if (!webhook) return []
  const wanted = ripe.flatMap(({ debit, events }) =>
    events
      .filter(({ n }) => {
        const entry = debit.history[n]
        return entry !== undefined && isSubscribed(webhook, entry.type)
      })
      .map((event) => ({ debit, ...event })),
  )
  const tried = new Set(
    (await findDeliveries(wanted)).map(({ reference, n }) => `${reference}#${n}`),
  )
  return wanted
    .filter(({ reference, n }) => !tried.has(`${reference}#${n}`))
    .map(({ debit, n }) => announce(debit, { n, through: n }))
}
