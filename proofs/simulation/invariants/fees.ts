import { isDeepStrictEqual } from 'node:util'
import type { FeeSchedule } from '../engine/observations.ts'
import { membersOf } from './calls.ts'
import type { Check, DebitHistory, ObservationIndex } from './observation-index.ts'
import { pesewasOfFee } from './time-and-money.ts'

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
export const schedulesAreCurrent: Check = ({ batches, timeline, startOf }, report) => {
  for (const [id, { item, changes }] of batches) {
    const [opened] = changes
    if (!opened) continue
    const startedAt = startOf(opened.by?.invocation, 0)
    const possible = timeline.during('feeSchedule', item.provider, startedAt, opened.at)
    const own = { ...(item.feeSchedule as FeeSchedule | null) }
    const isCurrent = possible.some((schedule) => isDeepStrictEqual(own, { ...schedule }))
    if (!isCurrent) report(id, `has the schedule ${JSON.stringify(own)}`)
  }
}

/** A JSON number keeps its text: 0.30000000000000004 has more digits than a number prints. */
const feeIn = (sent: unknown): unknown => {
  const text = typeof sent === 'string' ? /"fee":([0-9.]+)\}?$/.exec(sent)?.[1] : undefined
  return text ?? membersOf(sent).fee
}

/** Returns the fee of the bank's report or reply that completed a debit. */
const feeByBank = (
  { uuid, changes }: DebitHistory,
  { callBy, queriesOf }: ObservationIndex,
): number | undefined => {
  const change = changes.findLast(
    ({ before, after }) => after?.status === 'completed' && before?.status !== 'completed',
  )
  const invocation = change?.by?.invocation
  if (!change || invocation === undefined) return undefined
  const call = callBy.get(invocation)
  if (call) return pesewasOfFee(feeIn(call.sent))
  const query = queriesOf
    .get(uuid)
    ?.findLast(
      ({ by, answer, at }) => by === invocation && answer === 'completed' && at <= change.at,
    )
  return pesewasOfFee(query?.fee)
}

/** Returns the bank's fee, else the scheduled one; at most the amount. */
const feeOf = (history: DebitHistory, index: ObservationIndex): number => {
  const { item, lines } = history
  const line = lines.find((one) => one.item.type === 'debit')
  const schedule = index.batches.get(line?.batch ?? '')?.item.feeSchedule as FeeSchedule | null
  const fee = feeByBank(history, index) ?? scheduled(item.amount, schedule ?? undefined)
  return Math.min(fee, item.amount)
}

export const linesHaveTheirFee: Check = (index, report) => {
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
