import type { Debit } from '../domain/debits/debit.ts'
import { formatAmount } from '../domain/money.ts'
import { isHeldBy } from '../domain/operator/restore.ts'
import type { FeeSchedule } from '../domain/providers/fee-schedule.ts'
import { type Batch, type BatchStatus, type Line, payableFrom } from '../domain/settlement/batch.ts'
import { DAY_MS, type Day } from '../domain/time.ts'
import { type CheckResult, checkResult, notApplicable } from './findings.ts'
import { EXPECTED } from './lifecycle.ts'
import {
  areInOrder,
  HAS_PAYOUT,
  isLongAgo,
  isSet,
  isTooOld,
  SKEW_MS,
  timeOf,
  type Window,
} from './records.ts'
import { isOpposite } from './settled.ts'
import { type Sums, whole } from './sums.ts'

/** A line with its debit, and with the original line of an adjustment. */
export type LineRecord = { batch: Batch; line: Line; debit: Debit; original: Line | undefined }

/** A reversal is dated before it is written. The time of a line is unknown, but not before its batch was opened. */
const wasReversedBefore = ({ batch, debit }: LineRecord): boolean => {
  const reversedAt = timeOf(debit, 'reversed')
  return reversedAt !== undefined && reversedAt.getTime() < batch.createdAt.getTime() - SKEW_MS
}

export const lineIsOfCompletedDebit = (record: LineRecord): CheckResult => {
  const { batch, line, debit } = record
  if (line.type !== 'debit') return notApplicable
  return checkResult({
    [`has a line in ${batch.id}, but is ${debit.status}`]: timeOf(debit, 'completed') === undefined,
    [`has a line in ${batch.id}, but was reversed before`]: wasReversedBefore(record),
  })
}

/** Invariant 23 reports debits that were never completed or were reversed before. */
export const lineIsInItsBatch = (record: LineRecord): CheckResult => {
  const { batch, line, debit } = record
  if (line.type !== 'debit' || timeOf(debit, 'completed') === undefined) return notApplicable
  if (wasReversedBefore(record)) return notApplicable
  return checkResult({
    [`has a line in ${batch.id}, but is settled in ${debit.settledIn ?? 'none'}`]:
      debit.settledIn !== batch.id,
    [`has a line in ${batch.id} of ${batch.provider}`]: batch.provider !== debit.facts.provider,
    [`has a line in ${batch.id}, which is in ${batch.currency}`]: batch.currency !== 'GHS',
  })
}

export const lineAddsUp = ({ batch, line }: LineRecord): CheckResult => {
  const { type, gross, fee, net } = line
  const sign = type === 'debit' ? 1 : -1
  return checkResult(
    {
      [`its line in ${batch.id} is not in whole pesewas`]: ![gross, fee, net].every(
        Number.isSafeInteger,
      ),
      [`its line in ${batch.id} has a net other than gross less fee`]:
        whole(net) !== whole(gross) - whole(fee),
      [`its line in ${batch.id} has the wrong sign`]: [gross, fee, net].some(
        (amount) => amount * sign < 0,
      ),
    },
    // The batch is counted.
    0,
  )
}

export const adjustsOnce = ({ batch, line, debit, original }: LineRecord): CheckResult => {
  if (line.type !== 'adjustment') return notApplicable
  return checkResult({
    [`has an adjustment in ${batch.id}, but is ${debit.status}`]:
      EXPECTED[debit.status].money !== 'reversed',
    [`has an adjustment in ${batch.id}, but names ${debit.adjustedIn ?? 'none'}`]:
      debit.adjustedIn !== batch.id,
    [`has an adjustment in ${batch.id}, but no line`]: original === undefined,
    [`has an adjustment in ${batch.id} that is not opposite to its line`]:
      original !== undefined && !isOpposite(line, original),
  })
}

/** Invariant 26 reports a changed number of lines. An open batch has no totals. */
export const batchIsSumOfLines = ({ totals }: Batch, sums: Sums): CheckResult => {
  if (!totals) return notApplicable
  if (BigInt(totals.count) !== sums.count) return { ...notApplicable, checked: 1 }
  const { gross, fee, adjustments, net } = totals
  const differing = (['gross', 'fee', 'adjustments', 'net'] as const).map((name) => [
    `its ${name} is ${formatAmount(whole(totals[name]))}, but its lines add up to ${formatAmount(sums[name])}`,
    whole(totals[name]) !== sums[name],
  ])
  return checkResult({
    ...Object.fromEntries(differing),
    'its number of debits is wrong': BigInt(totals.debits) !== sums.debits,
    'its net is not gross less fee plus adjustments':
      whole(net) !== whole(gross) - whole(fee) + whole(adjustments),
  })
}

/** @param earliest the first completion among its lines */
export const batchKeepsLines = (
  { totals, completedFrom }: Batch,
  sums: Sums,
  earliest: Day | null,
) =>
  checkResult(
    {
      [`it was sealed with ${totals?.count} lines, but has ${sums.count}`]:
        totals !== null && BigInt(totals.count) !== sums.count,
      [`its lines begin on ${earliest}, not on ${completedFrom}`]:
        isSet(completedFrom) && completedFrom !== earliest,
    },
    // The state check counts the batch.
    0,
  )

/** A due batch may wait for a settlement account or for funding. */
const WAITING_DAYS = 7

/** Checks the state of a batch by its header. A restore may hold its payout. */
export const reachesFinalStatus = (batch: Batch, window: Window): CheckResult => {
  const { status, createdAt, sealedAt, totals, reportedAt, processedAt } = batch
  const isFinished = sealedAt !== null && totals !== null && reportedAt !== null
  if (!totals || !isFinished) {
    return checkResult({
      'it was never finished': isLongAgo(createdAt, window),
      [`it is ${status}, but was never finished`]: status !== 'pending',
    })
  }
  const since = processedAt ?? createdAt
  const due = payableFrom(batch)
  const isDue = window.now.getTime() - due.getTime() > WAITING_DAYS * DAY_MS
  const isHeld = isHeldBy(window.restore, batch.provider)
  const waits: Record<BatchStatus, Record<string, boolean>> = {
    pending: {
      [`it is due since ${due.toISOString()}, but its payout has not begun`]:
        totals.net >= 0 && !isHeld && isDue,
    },
    processing: {
      [`its payout is in progress since ${since.toISOString()}`]:
        !isHeld && isTooOld(since, window),
    },
    completed: {},
    failed: { 'its payout failed and was not retried': true },
  }
  return checkResult({
    ...isPaidOnce(batch, totals.net),
    ...contradictsStatus(batch),
    ...waits[status],
  })
}

/** A retried batch keeps the times of its earlier payout until the next one begins. */
const contradictsStatus = (batch: Batch): Record<string, boolean> => {
  const { id, date, status, createdAt, sealedAt, reportedAt, processedAt, completedAt } = batch
  const { paid, paidTo, failedAt, failure, bankReference, offsets } = batch
  return {
    [`it is of ${date}, unlike its id`]: id.split('-')[1] !== date.replaceAll('-', ''),
    'its times are not in order': ![completedAt, failedAt].every((endedAt) =>
      areInOrder([createdAt, sealedAt, reportedAt, processedAt, endedAt]),
    ),
    [`it is ${status}, but its completion is at ${completedAt?.toISOString()}`]:
      (status === 'completed') !== isSet(completedAt),
    'it has either a time or a reason of a failure':
      isSet(failedAt) !== isSet(failure) || (status === 'failed' && !isSet(failure)),
    // A provider transfers to no account of its own.
    'it has either a payout or its account': (isSet(paid) && paid >= 0) !== isSet(paidTo),
    [`it is ${status}, but has a bank reference`]: bankReference !== null && status !== 'completed',
    [`it is ${status}, but offsets others`]: offsets.length > 0 && !HAS_PAYOUT[status],
  }
}

const isPaidOnce = (batch: Batch, net: number): Record<string, boolean> => {
  const { status, paid, offsets, outstanding, bankReference, completedAt, processedAt } = batch
  const offset = offsets.reduce((sum, { amount }) => sum + whole(amount), 0n)
  const isBegun = net >= 0 && HAS_PAYOUT[status]
  const isCompleted = status === 'completed'
  return {
    'its payout and its offsets are not its net':
      isBegun && whole(paid ?? 0) + offset !== whole(net),
    'it is completed, but was never paid':
      isCompleted && net >= 0 && (!completedAt || !processedAt),
    'it is completed, but has no bank reference':
      isCompleted && whole(paid ?? 0) !== 0n && bankReference === null,
    'its outstanding amount is not between its net and zero':
      outstanding > 0 || outstanding < Math.min(0, net),
    'it is completed, but has an outstanding amount': isCompleted && outstanding !== 0,
  }
}

const BASIS_POINTS = 10_000n

/** Rounds half to even. */
const share = (amount: bigint, basisPoints: bigint): bigint => {
  const product = amount * basisPoints
  const below = product / BASIS_POINTS
  const twice = 2n * (product % BASIS_POINTS)
  const isUp = twice > BASIS_POINTS || (twice === BASIS_POINTS && below % 2n === 1n)
  return isUp ? below + 1n : below
}

const scheduledFee = (amount: bigint, schedule: FeeSchedule | null): bigint => {
  if (!schedule) return 0n
  const { basisPoints, fixed, minimum, maximum } = schedule
  const fee = share(amount, BigInt(basisPoints)) + whole(fixed)
  if (maximum !== undefined && fee > whole(maximum)) return whole(maximum)
  return minimum !== undefined && fee < whole(minimum) ? whole(minimum) : fee
}

const feeOf = ({ facts, history }: Debit, schedule: FeeSchedule | null): bigint => {
  const byBank = history.findLast(({ changes }) => changes.fee !== undefined)?.changes.fee
  const amount = whole(facts.amount)
  const fee = byBank === undefined ? scheduledFee(amount, schedule) : whole(byBank)
  return fee < amount ? fee : amount
}

/** Computes the fee without the code that wrote the line. Invariant 27 covers adjustments. */
export const lineHasFee = ({ batch, line, debit }: LineRecord): CheckResult => {
  if (line.type !== 'debit' || timeOf(debit, 'completed') === undefined) return notApplicable
  const fee = feeOf(debit, batch.feeSchedule)
  return checkResult({
    [`its line in ${batch.id} has the fee ${formatAmount(whole(line.fee))}, not ${formatAmount(fee)}`]:
      whole(line.fee) !== fee,
  })
}
