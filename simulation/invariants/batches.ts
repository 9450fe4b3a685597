import type { BatchBook, Books } from './debit-histories.ts'
import { type Check, type Complain, together } from './invariant.ts'
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
export const isSummed: Check = ({ batches }, complain) => {
  for (const [id, { item, lines }] of batches) {
    if (lines.length === 0) complain(id, 'has no line')
    if (!item.totals) {
      if (item.status !== 'pending') complain(id, `is ${item.status} without its sums`)
      continue
    }
    if (!item.sealedAt) complain(id, 'was summed before it was sealed')
    const right = totalsOf(lines.map((line) => line.item))
    for (const name of Object.keys(right) as (keyof RawTotals)[]) {
      if (item.totals[name] !== right[name]) {
        complain(id, `says ${name} ${item.totals[name]}, its lines ${right[name]}`)
      }
    }
  }
}

/** 25: what was completed is in lines, or waits for one. */
const isAllThere: Check = ({ debits, lines, providers }, complain) => {
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
    if (all !== some) complain(provider, `${all} was completed, and ${some} is found`)
  }
}

/** 25: what a batch is worth is paid, kept back for others, or still to come. */
const isPaidAsItIs: Check = (books, complain) => {
  const made = new Map<string, number>()
  for (const { item } of books.batches.values()) {
    for (const { batch, amount } of item.offsets) made.set(batch, (made.get(batch) ?? 0) + amount)
  }
  for (const [id, { item }] of books.batches) {
    judgeWorth(item, made.get(id) ?? 0, complain)
  }
  for (const batch of books.batches.values()) judgePaid(batch, books, complain)
}

const judgeWorth = (batch: RawBatch, made: number, complain: Complain): void => {
  const { id, status, totals, paid, offsets, outstanding, offsetBy } = batch
  const net = totals?.net ?? 0
  const isBegun = status === 'processing' || status === 'completed'
  const good = sum(offsets.map(({ amount }) => amount))
  if (net >= 0) {
    if (isBegun && (paid ?? 0) + good !== net) complain(id, `pays ${paid} and ${good} of ${net}`)
    if (!isBegun && good !== 0) complain(id, `makes ${good} good, and is ${status}`)
    if (outstanding !== 0 || made !== 0) complain(id, `lacks nothing, and got ${made}`)
    return
  }
  if (outstanding !== net + made) complain(id, `lacks ${outstanding}, of ${net} and got ${made}`)
  if (status === 'completed' && outstanding !== 0) complain(id, `lacks ${outstanding} in the end`)
  if (outstanding > 0) complain(id, `got ${outstanding} too much`)
  if ((status === 'completed') !== (offsetBy !== null)) {
    complain(id, `is ${status}, and made good by ${offsetBy}`)
  }
}

/** What its bank has paid is what it says; a bank that pays is told of in hand-overs. */
const judgePaid = ({ item }: BatchBook, { witnessed }: Books, complain: Complain): void => {
  const handed = witnessed.handOvers.filter(
    ({ path, body }) => path === '/settlements' && body.batch === item.id,
  )
  const paid = new Set(
    handed.flatMap(({ verdict, idempotencyKey }) => (verdict === 'paid' ? [idempotencyKey] : [])),
  )
  if (paid.size > 1) complain(item.id, `was paid ${paid.size} times`)
  const [uuid] = paid
  if (uuid !== undefined && (item.uuid !== uuid || item.status === 'failed')) {
    complain(item.id, `was paid as ${uuid}, and is ${item.status} as ${item.uuid}`)
  }
  const speaks = witnessed.handOvers.some(({ bank }) => bank === item.paidTo?.bank)
  const isPaid = item.status === 'completed' && (item.paid ?? 0) > 0
  if (isPaid && speaks && uuid === undefined) complain(item.id, 'is completed, and no bank paid it')
}

export const keepsAllMoney = together(isAllThere, isPaidAsItIs)
