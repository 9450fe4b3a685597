import type { Books, RawBatch, RawDebit, RawLine, RawSchedule, RawTotals } from './raw-items.ts'

/** What must hold of every table, at any time; what does not is said in words. */

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, one) => total + one, 0n)

/** Round half to even, by remainders. */
const share = (amount: bigint, basisPoints: bigint): bigint => {
  const below = (amount * basisPoints) / 10_000n
  const rest = (amount * basisPoints) % 10_000n
  return rest > 5_000n || (rest === 5_000n && below % 2n === 1n) ? below + 1n : below
}

const feeOf = ({ amount, bankFee }: RawDebit, schedule: RawSchedule | undefined): bigint => {
  let fee = bankFee
  if (fee === undefined && schedule) {
    fee = share(amount, schedule.basisPoints) + schedule.fixed
    if (schedule.minimum !== undefined && fee < schedule.minimum) fee = schedule.minimum
    if (schedule.maximum !== undefined && fee > schedule.maximum) fee = schedule.maximum
  }
  if (fee === undefined) return 0n
  return fee < amount ? fee : amount
}

const placeOf = ({ date, n }: RawBatch): string => `${date}#${String(n).padStart(6, '0')}`

/** @returns complaints; none: the books are in order */
export const complaintsOf = (books: Books): string[] => [
  ...books.debits.flatMap((debit) => ofDebit(debit, books)),
  ...books.lines.flatMap((line) => ofLine(line, books)),
  ...books.batches.flatMap((batch) => ofBatch(batch, books)),
  ...ofWhole(books),
]

/** 22, 23, 27: one line for what was completed, and one that takes it back. */
const ofDebit = (debit: RawDebit, { lines, batches }: Books): string[] => {
  const { reference, provider, status, settledIn, adjustedIn } = debit
  const complain = (text: string) => [`${reference} (${status}): ${text}`]
  const own = lines.filter((line) => line.reference === reference)
  const [line, ...others] = own.filter(({ type }) => type === 'debit')
  const [back, ...more] = own.filter(({ type }) => type === 'adjustment')
  const batchOf = (one: RawLine) => batches.find(({ id }) => id === one.batch)
  if (others.length > 0 || more.length > 0) return complain('more than one line of a kind')
  if (line?.batch !== settledIn) return complain(`says ${settledIn}, its line ${line?.batch}`)
  if (back?.batch !== adjustedIn) return complain(`says ${adjustedIn}, taken back ${back?.batch}`)
  if (line && status !== 'completed' && status !== 'reversed') return complain('has a line')
  if (back && (status !== 'reversed' || !line)) return complain('taken back without a cause')
  for (const one of own) {
    const batch = batchOf(one)
    if (batch?.provider !== provider || batch.currency !== 'GHS')
      return complain('in a strange batch')
  }
  if (!line || !back) return []
  const [first, later] = [batchOf(line), batchOf(back)]
  if (!first || !later || placeOf(later) <= placeOf(first)) return complain('taken back too early')
  const equal = back.gross === -line.gross && back.fee === -line.fee && back.net === -line.net
  return equal ? [] : complain('taken back is not what was given')
}

/** 29: each line is rounded once, by whole numbers; and every line is of a debit. */
const ofLine = (line: RawLine, { debits, schedules }: Books): string[] => {
  const complain = (text: string) => [`line ${line.batch} ${line.reference}: ${text}`]
  const debit = debits.find(({ reference }) => reference === line.reference)
  if (!debit) return complain('of no debit')
  if (debit.completedAt !== line.completedAt) return complain('of another time')
  const sign = line.type === 'debit' ? 1n : -1n
  const fee = feeOf(debit, schedules.get(debit.provider))
  if (line.gross !== sign * debit.amount) return complain(`gross ${line.gross}`)
  if (line.fee !== sign * fee) return complain(`fee ${line.fee}, not ${sign * fee}`)
  return line.net === line.gross - line.fee ? [] : complain(`net ${line.net}`)
}

/** 24, 28: totals are sums of lines, and these were completed before the day of the batch. */
const ofBatch = (batch: RawBatch, { lines }: Books): string[] => {
  const complain = (text: string) => [`${batch.id} (${batch.date}#${batch.n}): ${text}`]
  const own = lines.filter((line) => line.batch === batch.id)
  const debits = own.filter(({ type }) => type === 'debit')
  const adjustments = own.filter(({ type }) => type === 'adjustment')
  const early = own.filter(({ completedAt }) => completedAt >= Date.parse(batch.date))
  if (early.length > 0) return complain('a line of its own day or later')
  if (own.length === 0) return complain('no line')
  if (!batch.totals) return batch.status === 'pending' ? [] : complain('paid without totals')
  if (!batch.isSealed) return complain('summed before it was sealed')
  const gross = sum(debits.map((line) => line.gross))
  const fee = sum(debits.map((line) => line.fee))
  const back = sum(adjustments.map((line) => line.net))
  const wanted: RawTotals = {
    count: BigInt(own.length),
    debits: BigInt(debits.length),
    gross,
    fee,
    adjustments: back,
    net: gross - fee + back,
  }
  return (Object.keys(wanted) as (keyof RawTotals)[])
    .filter((name) => batch.totals?.[name] !== wanted[name])
    .flatMap((name) => complain(`${name} ${batch.totals?.[name]}, not ${wanted[name]}`))
}

/** 25: money is neither made nor lost, between debits and batches and between batches. */
const ofWhole = ({ debits, lines, batches }: Books): string[] => {
  const complaints: string[] = []
  const taken = debits.filter(
    ({ status, settledIn }) => status === 'completed' || (status === 'reversed' && settledIn),
  )
  const waiting = taken.filter(({ settledIn }) => !settledIn)
  const inLines = sum(lines.filter(({ type }) => type === 'debit').map(({ gross }) => gross))
  const expected = sum(taken.map(({ amount }) => amount))
  const found = inLines + sum(waiting.map(({ amount }) => amount))
  if (found !== expected) complaints.push(`lines and waiting ${found}, completed ${expected}`)
  for (const batch of batches) {
    const { id, status, paid = 0n, offsets, totals, outstanding } = batch
    const good = sum(offsets.map(({ amount }) => amount))
    const begun = status === 'processing' || status === 'completed'
    const net = totals?.net ?? 0n
    if (net >= 0n && begun && paid + good !== net) complaints.push(`${id} pays not what it is`)
    if (net >= 0n && !begun && good !== 0n) complaints.push(`${id} makes good and is not paid`)
    const gotten = sum(
      batches.flatMap((one) =>
        one.offsets.flatMap((part) => (part.batch === id ? [part.amount] : [])),
      ),
    )
    const isBelow = net < 0n
    if (isBelow && outstanding !== net + gotten) complaints.push(`${id} ${outstanding} outstanding`)
    if (!isBelow && (outstanding !== 0n || gotten !== 0n)) complaints.push(`${id} was made good`)
    if (isBelow && status === 'completed' && outstanding !== 0n)
      complaints.push(`${id} ended early`)
    if (isBelow && (status === 'completed') !== (batch.offsetBy !== undefined)) {
      complaints.push(`${id} is ${status} and made good by ${batch.offsetBy}`)
    }
  }
  return complaints
}

/** What was paid out, and what nothing was paid of yet, come to the nets of all batches. */
export const accounts = ({ batches }: Books) => ({
  net: sum(batches.map(({ totals }) => totals?.net ?? 0n)),
  outstanding: sum(batches.map(({ outstanding }) => outstanding)),
  paid: sum(
    batches.map(({ status, paid }) =>
      status === 'completed' || status === 'processing' ? (paid ?? 0n) : 0n,
    ),
  ),
  unpaid: sum(
    batches.map(({ status, totals }) =>
      status === 'completed' || status === 'processing' || (totals?.net ?? 0n) < 0n
        ? 0n
        : (totals?.net ?? 0n),
    ),
  ),
})
