import type { BatchStatus } from '../../../shared/domain/settlement/batch.ts'
import type { Check, ObservationIndex, Reporter } from './observation-index.ts'
import type { RawBatch, RawTotals } from './raw-items.ts'
import type { RawLine } from './raw-lines.ts'
import { inGhs } from './time-and-money.ts'

/** 24, 25: the sums of batches, and the conservation of money. */

const sum = (amounts: readonly number[]): number =>
  amounts.reduce((total, amount) => total + amount, 0)

const totalsOf = (lines: readonly RawLine[]): RawTotals => {
  const debits = lines.filter(({ type }) => type === 'debit')
  const back = lines.filter(({ type }) => type !== 'debit')
  const gross = sum(debits.map((line) => line.gross))
  const fee = sum(debits.map((line) => line.fee))
  const adjustments = sum(back.map(({ net }) => net))
  const net = gross - fee + adjustments
  return { count: lines.length, debits: debits.length, gross, fee, adjustments, net }
}

export const batchesMatchLines: Check = ({ batches }, report) => {
  for (const [id, { item, lines }] of batches) {
    if (lines.length === 0) report(id, 'has no line')
    if (!item.totals) {
      if (item.status !== 'pending') report(id, `is ${item.status} without totals`)
      continue
    }
    if (!item.sealedAt) report(id, 'has totals before its seal')
    const right = totalsOf(lines.map((line) => line.item))
    for (const name of Object.keys(right) as (keyof RawTotals)[]) {
      if (item.totals[name] !== right[name]) {
        report(id, `has ${name} ${item.totals[name]}, but its lines have ${right[name]}`)
      }
    }
  }
}

/**
 * 25: the net of a batch is paid, offset, or outstanding. A batch is the sum of its lines (24), and
 * the lines have the completed debits (22) with their amounts (29).
 */
export const netsArePaid: Check = (index, report) => {
  const offset = new Map<string, number>()
  for (const { item } of index.batches.values()) {
    for (const { batch, amount } of item.offsets) {
      offset.set(batch, (offset.get(batch) ?? 0) + amount)
    }
  }
  for (const [id, { item }] of index.batches) {
    checkWorth(item, offset.get(id) ?? 0, report)
    checkPaid(item, index, report)
  }
}

/** Whether the payout of a batch has begun, and its bank has not rejected it. */
const IS_BEGUN: Record<BatchStatus, boolean> = {
  pending: false,
  processing: true,
  completed: true,
  failed: false,
}

/** @param made the amount by which other batches offset this one */
const checkWorth = (batch: RawBatch, made: number, report: Reporter): void => {
  const { id, status, totals, paid, offsets, outstanding, offsetBy } = batch
  const net = totals?.net ?? 0
  const isBegun = IS_BEGUN[status]
  const good = sum(offsets.map(({ amount }) => amount))
  if (net >= 0) {
    if (isBegun && (paid ?? 0) + good !== net) {
      report(id, `pays ${paid} and offsets ${good} of ${net}`)
    }
    if (!isBegun && good !== 0) report(id, `offsets ${good}, but is ${status}`)
    if (outstanding !== 0 || made !== 0) report(id, `owes nothing, but was offset by ${made}`)
    return
  }
  if (outstanding !== net + made) report(id, `owes ${outstanding}: net ${net}, offset ${made}`)
  if (status === 'completed' && outstanding !== 0) report(id, `owes ${outstanding} at the end`)
  if (outstanding > 0) report(id, `was offset by ${outstanding} too much`)
  if ((status === 'completed') !== (offsetBy !== null)) {
    report(id, `is ${status}, but offset by ${offsetBy}`)
  }
}

/** Compares a batch with its bank's payouts. */
const checkPaid = (
  { id, uuid, status, paid }: RawBatch,
  { bankPostsTo }: ObservationIndex,
  report: Reporter,
): void => {
  const payouts = new Map(
    (bankPostsTo.get('/settlements') ?? [])
      .filter(({ body, verdict }) => body.batch === id && verdict === 'paid')
      .map(({ idempotencyKey, body }) => [idempotencyKey, body.amount]),
  )
  if (payouts.size > 1) report(id, `was paid ${payouts.size} times`)
  const isPaid = status === 'completed' && (paid ?? 0) > 0
  if (isPaid && payouts.size === 0) report(id, 'is completed, but no bank paid it')
  for (const [key, amount] of payouts) {
    if (uuid !== key || status === 'failed') {
      report(id, `was paid under ${key}, but is ${status} under ${uuid}`)
    }
    if (amount !== inGhs(paid ?? 0)) report(id, `was paid ${amount}, not ${paid}`)
  }
}
