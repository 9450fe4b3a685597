import { allOf, type Check, type Reporter } from './invariant.ts'
import type { BatchHistory, ObservationIndex } from './observation-index.ts'
import type { RawBatch, RawLine, RawTotals } from './raw-items.ts'

/** 24, 25: the sums of batches, and that no money is made or lost between them. */

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

/** 24 */
export const batchesMatchLines: Check = ({ batches }, report) => {
  for (const [id, { item, lines }] of batches) {
    if (lines.length === 0) report(id, 'has no line')
    if (!item.totals) {
      if (item.status !== 'pending') report(id, `is ${item.status} without its sums`)
      continue
    }
    if (!item.sealedAt) report(id, 'was summed before it was sealed')
    const right = totalsOf(lines.map((line) => line.item))
    for (const name of Object.keys(right) as (keyof RawTotals)[]) {
      if (item.totals[name] !== right[name]) {
        report(id, `says ${name} ${item.totals[name]}, its lines ${right[name]}`)
      }
    }
  }
}

/** 25: what was completed is in lines, or waits for one. */
const isAllThere: Check = ({ debits, lines, providers }, report) => {
  const completed = new Map<string, number>()
  const found = new Map<string, number>()
  const add = (to: Map<string, number>, provider: string, amount: number): void => {
    to.set(provider, (to.get(provider) ?? 0) + amount)
  }
  for (const { item } of debits.values()) {
    const isWaiting = item.status === 'completed' && !item.settledIn
    const isSettled = item.settledIn !== undefined
    if (isWaiting || isSettled) add(completed, item.provider, item.amount)
    if (isWaiting) add(found, item.provider, item.amount)
  }
  for (const { item } of lines) {
    if (item.type !== 'debit') continue
    add(found, debits.get(item.reference)?.item.provider ?? '', item.gross)
  }
  for (const provider of new Set([...providers.keys(), ...completed.keys(), ...found.keys()])) {
    const [all, some] = [completed.get(provider) ?? 0, found.get(provider) ?? 0]
    if (all !== some) report(provider, `${all} was completed, and ${some} is found`)
  }
}

/** 25: what a batch is worth is paid, storage back for others, or still to come. */
const isPaidAsItIs: Check = (index, report) => {
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
    if (isBegun && (paid ?? 0) + good !== net) report(id, `pays ${paid} and ${good} of ${net}`)
    if (!isBegun && good !== 0) report(id, `makes ${good} good, and is ${status}`)
    if (outstanding !== 0 || made !== 0) report(id, `lacks nothing, and got ${made}`)
    return
  }
  if (outstanding !== net + made) report(id, `lacks ${outstanding}, of ${net} and got ${made}`)
  if (status === 'completed' && outstanding !== 0) report(id, `lacks ${outstanding} in the end`)
  if (outstanding > 0) report(id, `got ${outstanding} too much`)
  if ((status === 'completed') !== (offsetBy !== null)) {
    report(id, `is ${status}, and made good by ${offsetBy}`)
  }
}

/** What its bank has paid is what it says; a bank that pays is told of in hand-overs. */
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
    report(item.id, `was paid as ${uuid}, and is ${item.status} as ${item.uuid}`)
  }
  const speaks = observations.bankPosts.some(({ bank }) => bank === item.paidTo?.bank)
  const isPaid = item.status === 'completed' && (item.paid ?? 0) > 0
  if (isPaid && speaks && uuid === undefined) report(item.id, 'is completed, and no bank paid it')
}

export const moneyIsConserved = allOf(isAllThere, isPaidAsItIs)
