import { allOf, type Check, type Reporter } from './invariant.ts'
import type { BatchHistory, ObservationIndex } from './observation-index.ts'
import type { RawBatch, RawLine, RawTotals } from './raw-items.ts'

/** 24, 25: the sums of batches, and the conservation of money. */

const sum = (amounts: Iterable<number>): number => {
  let total = 0
  for (const amount of amounts) total += amount
  return total
}

const totalsOf = (lines: readonly RawLine[]): RawTotals => {
  const debits = lines.filter(({ type }) => type === 'debit')
  const gross = sum(debits.map((line) => line.gross))
  const fee = sum(debits.map((line) => line.fee))
  const back = lines.filter(({ type }) => type !== 'debit')
  const adjustments = sum(back.map(({ net }) => net))
  return {
    count: lines.length,
    debits: debits.length,
    gross,
    fee,
    adjustments,
    net: gross - fee + adjustments,
  }
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

/** 25: every completed amount has a line or still waits for one. */
const amountsHaveLines: Check = ({ debits, lines, providers }, report) => {
  const completed = new Map<string, number>()
  const settled = new Map<string, number>()
  const add = (to: Map<string, number>, provider: string, amount: number): void => {
    to.set(provider, (to.get(provider) ?? 0) + amount)
  }
  for (const { item } of debits.values()) {
    const isWaiting = item.status === 'completed' && !item.settledIn
    const isSettled = item.settledIn !== undefined
    if (isWaiting || isSettled) add(completed, item.provider, item.amount)
    if (isWaiting) add(settled, item.provider, item.amount)
  }
  for (const { item } of lines) {
    if (item.type !== 'debit') continue
    add(settled, debits.get(item.reference)?.item.provider ?? '', item.gross)
  }
  for (const provider of new Set([...providers.keys(), ...completed.keys(), ...settled.keys()])) {
    const [all, some] = [completed.get(provider) ?? 0, settled.get(provider) ?? 0]
    if (all !== some) report(provider, `${all} was completed, but ${some} was found`)
  }
}

/** 25: the net of a batch is paid, offset, or outstanding. */
const netsArePaid: Check = (index, report) => {
  const made = new Map<string, number>()
  for (const { item } of index.batches.values()) {
    for (const { batch, amount } of item.offsets) made.set(batch, (made.get(batch) ?? 0) + amount)
  }
  for (const [id, { item }] of index.batches) {
    checkWorth(item, made.get(id) ?? 0, report)
  }
  for (const batch of index.batches.values()) checkPaid(batch, index, report)
}

const checkWorth = (batch: RawBatch, made: number, report: Reporter): void => {
  const { id, status, totals, paid, offsets, outstanding, offsetBy } = batch
  const net = totals?.net ?? 0
  const isBegun = status === 'processing' || status === 'completed'
  const good = sum(offsets.map(({ amount }) => amount))
  if (net >= 0) {
    if (isBegun && (paid ?? 0) + good !== net)
      report(id, `pays ${paid} and offsets ${good} of ${net}`)
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
  { item }: BatchHistory,
  { observations }: ObservationIndex,
  report: Reporter,
): void => {
  const handed = observations.bankPosts.filter(
    ({ path, body }) => path === '/settlements' && body.batch === item.id,
  )
  const paid = new Set(
    handed.flatMap(({ verdict, idempotencyKey }) => (verdict === 'paid' ? [idempotencyKey] : [])),
  )
  if (paid.size > 1) report(item.id, `was paid ${paid.size} times`)
  const [uuid] = paid
  if (uuid !== undefined && (item.uuid !== uuid || item.status === 'failed')) {
    report(item.id, `was paid under ${uuid}, but is ${item.status} under ${item.uuid}`)
  }
  const speaks = observations.bankPosts.some(({ bank }) => bank === item.paidTo?.bank)
  const isPaid = item.status === 'completed' && (item.paid ?? 0) > 0
  if (isPaid && speaks && uuid === undefined) report(item.id, 'is completed, but no bank paid it')
}

export const moneyIsConserved = allOf(amountsHaveLines, netsArePaid)
