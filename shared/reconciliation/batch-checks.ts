import type { Debit } from '../domain/debits/debit.ts'
import { isHeldBy } from '../domain/operator/restore.ts'
import { type Batch, type Line, payableFrom } from '../domain/settlement/batch.ts'
import { type CheckResult, checkResult, notApplicable } from './invariants.ts'
import { timeOf } from './related.ts'
import { isOpposite } from './settled.ts'
import { inGhs, type Sums, whole } from './sums.ts'
import { isLongAgo, isTooOld, type Window } from './window.ts'

/** Batches and their lines, as they stand. */

/** A line with the debit that it names, and for an adjustment the line that it takes back. */
export type LineRecord = {
  batch: Batch
  line: Line
  debit: Debit
  original: Line | undefined
}

/** Clocks differ, and a reversal has its time before it is written. */
const SKEW_MS = 60_000

/** When its line was written is not known, but not before the batch came to be. */
const wasReversedBefore = ({ batch, debit }: LineRecord): boolean => {
  const reversedAt = timeOf(debit, 'reversed')
  return reversedAt !== undefined && reversedAt.getTime() < batch.createdAt.getTime() - SKEW_MS
}

export const isOfCompleted = (seen: LineRecord): CheckResult => {
  const { batch, line, debit } = seen
  if (line.type !== 'debit') return notApplicable
  return checkResult({
    [`is ${debit.status}, but has a line in ${batch.id}`]: timeOf(debit, 'completed') === undefined,
    [`was reversed before ${batch.id} was opened, which has its line`]: wasReversedBefore(seen),
  })
}

/** A line of what never was completed, or was reversed before, is for invariant 23. */
export const isOfItsBatch = (seen: LineRecord): CheckResult => {
  const { batch, line, debit } = seen
  if (line.type !== 'debit' || timeOf(debit, 'completed') === undefined) return notApplicable
  if (wasReversedBefore(seen)) return notApplicable
  return checkResult({
    [`${batch.id} has a line of it, but it is settled in ${debit.settledIn ?? 'none'}`]:
      debit.settledIn !== batch.id,
    [`${batch.id} of ${batch.provider} has a line of it`]: batch.provider !== debit.facts.provider,
    [`${batch.id} is in ${batch.currency}`]: batch.currency !== 'GHS',
  })
}

/** Lines are whole pesewas; an adjustment's net is what counts, so it must be as right. */
export const addsUp = ({ batch, line }: LineRecord): CheckResult => {
  const { type, gross, fee, net } = line
  const sign = type === 'debit' ? 1 : -1
  return checkResult(
    {
      [`its line in ${batch.id} is not in whole pesewas`]: ![gross, fee, net].every(
        Number.isSafeInteger,
      ),
      [`its line in ${batch.id} has a net that is not its gross less its fee`]:
        whole(net) !== whole(gross) - whole(fee),
      [`its line in ${batch.id} has the wrong sign`]: [gross, fee, net].some(
        (amount) => amount * sign < 0,
      ),
    },
    // The batch is what is counted.
    0,
  )
}

export const adjustsOnce = ({ batch, line, debit, original }: LineRecord): CheckResult => {
  if (line.type !== 'adjustment') return notApplicable
  return checkResult({
    [`is ${debit.status}, but ${batch.id} adjusts it`]: debit.status !== 'reversed',
    [`${batch.id} adjusts it, but it names ${debit.adjustedIn ?? 'none'}`]:
      debit.adjustedIn !== batch.id,
    [`${batch.id} adjusts it, but it has no original line`]: original === undefined,
    [`${batch.id} adjusts it with other sums`]:
      original !== undefined && !isOpposite(line, original),
  })
}

/** Lines that came or went are for invariant 26; until it is sealed it has no sums. */
export const isSummed = ({ totals }: Batch, sums: Sums): CheckResult => {
  if (!totals) return notApplicable
  if (BigInt(totals.count) !== sums.count) return { ...notApplicable, checked: 1 }
  const { gross, fee, adjustments, net } = totals
  const says = (what: keyof Sums) =>
    `its ${what} is ${inGhs(whole(totals[what]))}, but its lines add up to ${inGhs(sums[what])}`
  return checkResult({
    [says('gross')]: whole(gross) !== sums.gross,
    [says('fee')]: whole(fee) !== sums.fee,
    [says('adjustments')]: whole(adjustments) !== sums.adjustments,
    [says('net')]: whole(net) !== sums.net,
    'its number of debits is wrong': BigInt(totals.debits) !== sums.debits,
    'its net is not gross - fee + adjustments':
      whole(net) !== whole(gross) - whole(fee) + whole(adjustments),
  })
}

/** Compares its lines with its sums, which were taken when it was sealed. */
export const keepsItsLines = ({ totals }: Batch, sums: Sums): CheckResult =>
  checkResult(
    {
      [`it was sealed with ${totals?.count} lines and has ${sums.count}`]:
        totals !== null && BigInt(totals.count) !== sums.count,
    },
    // The batch is counted once, with its state.
    0,
  )

/** A sealed batch waits for its day, for an account, or for the money of its bank. */
const BEGUN_DAYS = 7
const DAY_MS = 86_400_000

/** Checks the state of a batch, as far as its header shows it. A restore may hold its payment. */
export const reachesFinalStatus = (batch: Batch, terms: Window): CheckResult => {
  const { status, createdAt, sealedAt, totals, reportedAt, processedAt } = batch
  const isFinished = sealedAt !== null && totals !== null && reportedAt !== null
  if (!totals || !isFinished) {
    return checkResult({
      // Being built is right for the runs of one night.
      'it was never finished': isLongAgo(createdAt, terms),
      [`it is ${status}, but was never finished`]: status !== 'pending',
    })
  }
  const since = processedAt ?? createdAt
  const due = payableFrom(batch)
  const isDue = terms.now.getTime() - due.getTime() > BEGUN_DAYS * DAY_MS
  const isHeld = isHeldBy(terms.restore, batch.provider)
  return checkResult({
    ...isPaidOnce(batch, totals.net),
    'its payment failed and was not retried': status === 'failed',
    [`its payment has been in progress since ${since.toISOString()}`]:
      status === 'processing' && !isHeld && isTooOld(since, terms),
    [`it has been due since ${due.toISOString()}, but its payment has not begun`]:
      status === 'pending' && totals.net >= 0 && !isHeld && isDue,
  })
}

const isPaidOnce = (batch: Batch, net: number): Record<string, boolean> => {
  const { status, paid, offsets, outstanding, bankReference, completedAt, processedAt } = batch
  const made = offsets.reduce((sum, { amount }) => sum + whole(amount), 0n)
  const isBegun = net >= 0 && (status === 'processing' || status === 'completed')
  const isCompleted = status === 'completed'
  return {
    'its payment and its offset do not add up to its net':
      isBegun && whole(paid ?? 0) + made !== whole(net),
    'it is completed, but was never paid':
      isCompleted && net >= 0 && (!completedAt || !processedAt),
    'it is completed without a bank reference':
      isCompleted && paid !== null && paid > 0 && bankReference === null,
    'its outstanding amount exceeds its negative net':
      outstanding > 0 || outstanding < Math.min(0, net),
    'it is completed, but an amount is outstanding': isCompleted && outstanding !== 0,
  }
}
