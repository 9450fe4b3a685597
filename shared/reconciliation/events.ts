import type { Debit, Entry } from '../domain/debits/debit.ts'
import { type Delivery, isSubscribed } from '../domain/webhooks/delivery.ts'
import { type CheckResult, checkResult, combine, notApplicable } from './invariants.ts'
import type { DebitRecord, Subscription } from './related.ts'
import type { Window } from './window.ts'

/** The records of what providers were told. */

/**
 * An event's id follows from debit and number, an attempt's from these and its own number: so a
 * record must be of the event that its place says, and count each attempt once.
 */
export const isOfItsEvent = ({ debit, deliveries }: DebitRecord): CheckResult =>
  combine(
    debit.history.map((entry, n) => {
      const record = deliveries[n]
      return record ? isOf(debit, entry, n, record) : notApplicable
    }),
  )

const isOf = ({ facts }: Debit, { type, at }: Entry, n: number, record: Delivery): CheckResult =>
  checkResult({
    [`the record of event ${n} belongs to another event`]:
      record.reference !== facts.reference || record.n !== n || record.provider !== facts.provider,
    [`the record of event ${n} is of ${record.event}, not of ${type}`]: record.event !== type,
    [`the record of event ${n} has another time`]: record.occurredAt.getTime() !== at.getTime(),
    [`event ${n} was tried ${record.attemptCount} times, the last as number ${record.last?.number}`]:
      (record.last?.number ?? 0) !== record.attemptCount,
  })

/** The longest way of attempts that end by themselves, each with the delay a receiver asks for. */
const TO_COME_MS = 3_600_000

export const isPublished = (
  { debit, deliveries }: DebitRecord,
  { now }: Window,
  subscription: Subscription,
): CheckResult =>
  combine(
    debit.history.map((entry, n) => {
      const record = deliveries[n]
      if (record) return hasEnded(record, now)
      return isOwed(entry, subscription)
        ? checkResult({ [`event ${n} was never tried`]: isPast(entry.at, now) })
        : notApplicable
    }),
  )

/** What is yet to be tried, within its time, is right as it is. */
const isPast = (due: Date, now: Date): boolean => now.getTime() - due.getTime() > TO_COME_MS

/**
 * What a provider did not take when it happened was not owed, and has no record. Only for what
 * happened under the settings as they are is it known.
 */
const isOwed = ({ type, at }: Entry, subscription: Subscription): boolean =>
  subscription?.since !== undefined && at >= subscription.since && isSubscribed(subscription, type)

const hasEnded = (record: Delivery, now: Date): CheckResult => {
  const { n, status, attemptCount, attemptsMax, nextAttemptAt, deliveredAt } = record
  const isOver = status === 'delivered' || status === 'abandoned'
  return checkResult({
    [`event ${n} was tried ${attemptCount} times, of ${attemptsMax}`]: attemptCount > attemptsMax,
    [`event ${n} is delivered without a successful attempt`]:
      status === 'delivered' && (deliveredAt === null || attemptCount === 0),
    [`event ${n} is abandoned, but was delivered`]: status === 'abandoned' && deliveredAt !== null,
    [`event ${n} is ${status}, but has a next attempt`]: isOver && nextAttemptAt !== null,
    [`event ${n} is ${status}, but has no next attempt`]: !isOver && nextAttemptAt === null,
    [`event ${n} was due at ${nextAttemptAt?.toISOString()}`]:
      !isOver && nextAttemptAt !== null && isPast(nextAttemptAt, now),
  })
}
