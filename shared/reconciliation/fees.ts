import type { Debit } from '../domain/debits/debit.ts'
import { formatAmount } from '../domain/money.ts'
import type { FeeSchedule } from '../domain/settlement/fee-schedule.ts'
import type { LineRecord } from './batch-checks.ts'
import { type CheckResult, checkResult, notApplicable } from './invariants.ts'
import { timeOf } from './related.ts'
import { whole } from './sums.ts'

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
export const hasItsFee = ({ batch, line, debit }: LineRecord): CheckResult => {
  if (line.type !== 'debit' || timeOf(debit, 'completed') === undefined) return notApplicable
  const fee = feeOf(debit, batch.feeSchedule)
  return checkResult({
    [`its line in ${batch.id} has the fee ${formatAmount(whole(line.fee))}, not ${formatAmount(fee)}`]:
      whole(line.fee) !== fee,
  })
}
