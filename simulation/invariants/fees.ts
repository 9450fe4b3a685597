import type { SimulatedProvider } from '../engine/observations.ts'
import type { Check } from './invariant.ts'
import type { DebitHistory } from './observation-index.ts'

const BASIS_POINTS = 10_000

/** Rounds half to even. */
const share = (amount: number, basisPoints: number): number => {
  const product = amount * basisPoints
  const rest = product % BASIS_POINTS
  const below = (product - rest) / BASIS_POINTS
  const isUp = 2 * rest > BASIS_POINTS || (2 * rest === BASIS_POINTS && below % 2 === 1)
  return isUp ? below + 1 : below
}

const scheduled = (amount: number, schedule: SimulatedProvider['feeSchedule']): number => {
  if (!schedule) return 0
  const { basisPoints, fixed, minimum = 0, maximum = Number.POSITIVE_INFINITY } = schedule
  return Math.min(Math.max(share(amount, basisPoints) + fixed, minimum), maximum)
}

/** Returns the bank's fee, else the scheduled one; at most the amount. */
const feeOf = (
  { item, entries }: DebitHistory,
  provider: SimulatedProvider | undefined,
): number => {
  const byBank = entries.findLast(({ set }) => set.fee !== undefined)?.set.fee
  return Math.min(byBank ?? scheduled(item.amount, provider?.feeSchedule), item.amount)
}

/** 29: each fee is rounded once. */
export const feesAreRight: Check = ({ debits, providers }, report) => {
  for (const [reference, history] of debits) {
    if (history.lines.length === 0) continue
    const fee = feeOf(history, providers.get(history.item.provider))
    for (const { item, batch } of history.lines) {
      const sign = item.type === 'debit' ? 1 : -1
      const isRight =
        item.gross === sign * history.item.amount &&
        // Turns -0 into 0.
        item.fee + 0 === sign * fee + 0 &&
        item.net === item.gross - item.fee
      if (!isRight) {
        report(reference, `has ${item.gross} - ${item.fee} = ${item.net} in ${batch}, fee ${fee}`)
      }
    }
  }
}
