import { isDeepStrictEqual } from 'node:util'
import type { FeeSchedule } from '../engine/observations.ts'
import { feeByBank } from './bank-fees.ts'
import { allOf, type Check } from './invariant.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { timelineOf } from './setting-timeline.ts'

/** 29: each fee follows the bank or the schedule at the opening of the batch, rounded once. */

const BASIS_POINTS = 10_000

/** Rounds half to even. */
const share = (amount: number, basisPoints: number): number => {
  const product = amount * basisPoints
  const rest = product % BASIS_POINTS
  const below = (product - rest) / BASIS_POINTS
  const isUp = 2 * rest > BASIS_POINTS || (2 * rest === BASIS_POINTS && below % 2 === 1)
  return isUp ? below + 1 : below
}

const scheduled = (amount: number, schedule: FeeSchedule | undefined): number => {
  if (!schedule) return 0
  const { basisPoints, fixed, minimum = 0, maximum = Number.POSITIVE_INFINITY } = schedule
  return Math.min(Math.max(share(amount, basisPoints) + fixed, minimum), maximum)
}

/** A batch keeps the schedule that its provider had when it was opened. */
const schedulesAreCurrent: Check = ({ batches, observations }, report) => {
  const timeline = timelineOf(observations)
  for (const [id, { item, changes }] of batches) {
    const [opened] = changes
    if (!opened) continue
    const startedAt = observations.invocations.get(opened.by?.invocation ?? 0)?.startedAt
    const possible = timeline.during('feeSchedule', item.provider, startedAt ?? 0, opened.at)
    const isCurrent = possible.some((schedule) =>
      isDeepStrictEqual({ ...item.feeSchedule }, { ...schedule }),
    )
    if (!isCurrent) report(id, `has the schedule ${JSON.stringify(item.feeSchedule)}`)
  }
}

/** Returns the bank's fee, else the scheduled one; at most the amount. */
const feeOf = (history: DebitHistory, index: ObservationIndex): number => {
  const { item, lines } = history
  const line = lines.find((one) => one.item.type === 'debit')
  const schedule = index.batches.get(line?.batch ?? '')?.item.feeSchedule as FeeSchedule | null
  const fee = feeByBank(history, index) ?? scheduled(item.amount, schedule ?? undefined)
  return Math.min(fee, item.amount)
}

const linesHaveTheirFee: Check = (index, report) => {
  for (const [reference, history] of index.debits) {
    if (history.lines.length === 0) continue
    const fee = feeOf(history, index)
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

export const feesAreRight = allOf(schedulesAreCurrent, linesHaveTheirFee)
