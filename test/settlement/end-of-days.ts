import type { Reference } from '../../shared/domain/ids.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { type BankBooks, strangeInstructions } from './bank-books.ts'
import { accounts, complaintsOf } from './invariants.ts'
import { type Books, readBooks } from './raw-items.ts'

/** What became of a debit, by the order of things. */
export type Lived = {
  reference: Reference | undefined
  completedAt: number
  written: number | undefined
  reversed: number | undefined
}

/** A run of settlement, from its first read to its last write. */
export type Run = { date: string; from: number; to: number; isCut: boolean }

type Ended = { provider: ProviderId; bank: BankBooks; lived: Lived[]; runs: Run[] }

/** @returns what is wrong when nothing is left to be done */
export const wrongAtTheEnd = async ({ provider, bank, lived, runs }: Ended): Promise<string[]> => {
  const books = await readBooks([provider])
  return [
    ...complaintsOf(books),
    ...strangeInstructions(bank),
    ...leftOver(books),
    ...wrongPayments(books, bank),
    ...lived.flatMap((one) => wrongLine(one, runs, books)),
  ]
}

const leftOver = (books: Books): string[] => [
  ...books.debits
    .filter(({ status, settledIn, adjustedIn }) =>
      status === 'completed' ? !settledIn : settledIn && !adjustedIn,
    )
    .map(({ reference, status }) => `${reference} (${status}) is left`),
  ...books.batches
    .filter(({ status, outstanding }) => status !== 'completed' && outstanding === 0n)
    .map(({ id, status }) => `${id} is left ${status}`),
]

/** Each batch was paid once, and all of them come to what was completed. */
const wrongPayments = (books: Books, bank: BankBooks): string[] => {
  const complaints: string[] = []
  for (const { id, uuid, provider, paid = 0n, totals } of books.batches) {
    const wanted =
      (totals?.net ?? 0n) > 0n && paid > 0n ? [{ batch: id, provider, amount: paid }] : []
    const made = [...bank.paid.values()].filter(({ batch }) => batch === id)
    const byUuid = bank.paid.get(uuid)
    const isRight =
      made.length === wanted.length && made.every((one) => one === byUuid && one.amount === paid)
    if (!isRight) complaints.push(`${id} was paid ${made.map(({ amount }) => amount)}, not ${paid}`)
  }
  const { net, outstanding, paid, unpaid } = accounts(books)
  if (unpaid !== 0n) complaints.push(`${unpaid} unpaid`)
  if (paid + outstanding !== net) complaints.push(`paid ${paid}, owed ${outstanding}, net ${net}`)
  return complaints
}

/** 23, 27, 28: in the batch of the first run that could see it, if it was not reversed before. */
const wrongLine = (
  { reference, completedAt, written = 0, reversed = Number.POSITIVE_INFINITY }: Lived,
  runs: readonly Run[],
  { debits, batches }: Books,
): string[] => {
  const able = runs.filter(({ date, from }) => from > written && Date.parse(date) > completedAt)
  // A run that was cut off may leave it to the next.
  const whole = able.findIndex(({ isCut }) => !isCut)
  const taking = able.slice(0, whole + 1)
  const [first, last] = [taking[0], taking.at(-1)]
  const debit = debits.find((one) => one.reference === reference)
  if (!first || !last || !debit) return [`${reference} was never seen`]
  const date = batches.find(({ id }) => id === debit.settledIn)?.date
  if (date === undefined) return reversed < last.to ? [] : [`${reference} was passed over`]
  if (reversed < first.from) return [`${reference} was reversed before it was settled`]
  return taking.some((run) => run.date === date) ? [] : [`${reference} is in a batch of ${date}`]
}
