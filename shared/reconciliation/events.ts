import type { Debit, Entry } from '../domain/debits/debit.ts'
import type { Attempt } from '../domain/webhooks/attempt.ts'
import { type Delivery, type DeliveryStatus, isSubscribed } from '../domain/webhooks/delivery.ts'
import { type CheckResult, checkResult, combine, notApplicable } from './findings.ts'
import { areInOrder, type DebitRecord, isSet, type Subscription, type Window } from './records.ts'

/** Ids derive from the debit, the event number and the attempt number, so these must be correct. */
export const isOfItsEvent = ({ debit, deliveries }: DebitRecord): CheckResult =>
  combine(
    debit.history.map((entry, index) => {
      const delivery = deliveries[index]
      return delivery ? matches(debit, entry, index, delivery) : notApplicable
    }),
  )

const matches = (
  { facts }: Debit,
  { type, at }: Entry,
  n: number,
  { reference, provider, event, occurredAt, attemptCount, last, ...record }: Delivery,
): CheckResult =>
  checkResult({
    [`the record of event ${n} is of another debit or event`]:
      reference !== facts.reference || record.n !== n || provider !== facts.provider,
    [`the record of event ${n} is of ${event}, not of ${type}`]: event !== type,
    [`the record of event ${n} has another time`]: occurredAt.getTime() !== at.getTime(),
    [`event ${n} has ${attemptCount} attempts, but the last has the number ${last?.number}`]:
      (last?.number ?? 0) !== attemptCount,
    [`event ${n} has an attempt before it`]: !areInOrder([occurredAt, last?.at]),
    [`event ${n} was not delivered between its time and its last attempt`]:
      record.deliveredAt !== null && !areInOrder([occurredAt, record.deliveredAt, last?.at]),
    [`event ${n} has an attempt with the response ${last?.responseCode} and the cause ${last?.cause}`]:
      last !== null && isSuccess(last) !== (last.cause === null),
  })

const isSuccess = ({ responseCode }: Attempt): boolean =>
  responseCode !== null && responseCode >= 200 && responseCode < 300

/** Longer than all attempts with the longest Retry-After. */
const LATE_MS = 3_600_000

export const isPublished = (
  { debit, deliveries }: DebitRecord,
  { now }: Window,
  subscription: Subscription,
): CheckResult =>
  combine(
    debit.history.map((entry, index) => {
      const delivery = deliveries[index]
      if (delivery) return hasEnded(delivery, now)
      return isOwed(entry, subscription)
        ? checkResult({ [`event ${index} was never tried`]: isOverdue(entry.at, now) })
        : notApplicable
    }),
  )

const isOverdue = (due: Date, now: Date): boolean => now.getTime() - due.getTime() > LATE_MS

/** Only events since the webhook was created, or later subscribed to their type, are owed. */
const isOwed = ({ type, at }: Entry, subscription: Subscription): boolean => {
  if (subscription?.since === undefined || !isSubscribed(subscription, type)) return false
  const added = subscription.subscribedAt?.[`transaction.${type}`]
  return at >= subscription.since && at.getTime() >= Date.parse(added ?? '1970-01-01')
}

const IS_FINAL: Record<DeliveryStatus, boolean> = {
  pending: false,
  delivered: true,
  failed: false,
  abandoned: true,
}

const endOf = (attempt: Attempt | null): number =>
  attempt === null ? Number.NaN : attempt.at.getTime() + attempt.milliseconds

const hasEnded = (delivery: Delivery, now: Date): CheckResult => {
  const { n, status, attemptCount, attemptsMax, nextAttemptAt, deliveredAt, last } = delivery
  const { failedAt, reason } = delivery
  const isFinal = IS_FINAL[status]
  return checkResult({
    [`event ${n} has ${attemptCount} attempts, more than ${attemptsMax}`]:
      attemptCount > attemptsMax,
    [`event ${n} is delivered, but has no successful attempt`]:
      status === 'delivered' && (deliveredAt === null || attemptCount === 0),
    [`event ${n} is delivered, but not at the end of its only attempt`]:
      attemptCount === 1 && status === 'delivered' && deliveredAt?.getTime() !== endOf(last),
    [`event ${n} is ${status}, but failed at ${failedAt?.toISOString()} with ${reason}`]:
      (status === 'abandoned') !== isSet(failedAt) || (isSet(failedAt) && !isSet(reason)),
    [`event ${n} is abandoned, but was delivered`]: status === 'abandoned' && deliveredAt !== null,
    [`event ${n} is ${status}, but has a next attempt`]: isFinal && nextAttemptAt !== null,
    [`event ${n} is ${status}, but has no next attempt`]: !isFinal && nextAttemptAt === null,
    [`event ${n} is ${status}, but its attempt at ${nextAttemptAt?.toISOString()} is missing`]:
      !isFinal && nextAttemptAt !== null && isOverdue(nextAttemptAt, now),
  })
}
