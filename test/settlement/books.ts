import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { table, tableName } from '../../shared/store/table.ts'

/** Reads a provider's stored debits, lines and batches and checks them without the product's code. */

type StoredDebit = {
  reference: string
  provider: string
  amount: number
  status: string
  settledIn?: string
  adjustedIn?: string
}
type StoredLine = Record<'gross' | 'fee' | 'net', number> & {
  pk: string
  type: 'debit' | 'adjustment'
  reference: string
  completedAt: string
}
type Totals = Record<'count' | 'debits' | 'gross' | 'fee' | 'adjustments' | 'net', number>
type StoredBatch = {
  id: string
  provider: string
  currency: string
  date: string
  n: number
  status: string
  sealedAt: string | null
  totals: Totals | null
  paid: number | null
  offsets: { batch: string; amount: number }[]
  outstanding: number
  offsetBy: string | null
}

export type Books = { debits: StoredDebit[]; lines: StoredLine[]; batches: StoredBatch[] }

/** Includes lines of other batches about the provider's debits. */
export const readBooks = async (provider: string): Promise<Books> => {
  const { Items: items = [] } = await table.send(
    new ScanCommand({ TableName: tableName(), ConsistentRead: true }),
  )
  const ofEntity = <T>(entity: string) => items.filter((item) => item.entity === entity) as T[]
  const debits = ofEntity<StoredDebit>('debit').filter((debit) => debit.provider === provider)
  const batches = ofEntity<StoredBatch>('batch').filter((batch) => batch.provider === provider)
  const names = new Set([
    ...debits.map(({ reference }) => reference),
    ...batches.map(({ id }) => `BATCH#${id}`),
  ])
  const lines = ofEntity<StoredLine>('line')
  return {
    debits,
    batches,
    lines: lines.filter((line) => names.has(line.reference) || names.has(line.pk)),
  }
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, one) => total + one, 0)
const isBegun = ({ status }: StoredBatch): boolean =>
  status === 'processing' || status === 'completed'
const netOf = ({ totals }: StoredBatch): number => totals?.net ?? 0

/** Returns one text per violation: none if the books are right. */
export const violationsIn = (books: Books): string[] => [
  ...books.debits.flatMap((debit) => ofDebit(debit, books)),
  ...books.batches.flatMap((batch) => [...ofLines(batch, books), ...ofPayment(batch, books)]),
]

const named = (subject: string, claims: Record<string, boolean>): string[] =>
  Object.entries(claims).flatMap(([claim, isTrue]) => (isTrue ? [`${subject} ${claim}`] : []))

/** A completed debit has at most one line, and a reversed one at most one later adjustment. */
const ofDebit = (debit: StoredDebit, { lines, batches }: Books): string[] => {
  const { reference, amount, status, settledIn, adjustedIn } = debit
  const own = lines.filter((line) => line.reference === reference)
  const [line, ...otherLines] = own.filter(({ type }) => type === 'debit')
  const [adjustment, ...otherAdjustments] = own.filter(({ type }) => type === 'adjustment')
  const batchOf = (one?: StoredLine) => batches.find(({ id }) => one?.pk === `BATCH#${id}`)
  const placeOf = ({ date, n }: StoredBatch) => `${date}#${String(n).padStart(6, '0')}`
  const [batch, later] = [batchOf(line), batchOf(adjustment)]
  return named(reference, {
    'has several lines of a type': otherLines.length + otherAdjustments.length > 0,
    'names another batch than its line': batch?.id !== settledIn,
    'names another batch than its adjustment': later?.id !== adjustedIn,
    'has a line that its status excludes':
      line !== undefined && status !== 'completed' && status !== 'reversed',
    'has an adjustment without reason':
      adjustment !== undefined && (status !== 'reversed' || line === undefined),
    'has a line in a batch of another provider or currency': own.some(
      (one) => batchOf(one)?.currency !== 'GHS',
    ),
    'has an adjustment before its line':
      batch !== undefined && later !== undefined && placeOf(later) <= placeOf(batch),
    'has an adjustment that is not opposite to its line':
      line !== undefined &&
      adjustment !== undefined &&
      [line.gross + adjustment.gross, line.net + adjustment.net].some((rest) => rest !== 0),
    'has a line with another amount': line !== undefined && line.gross !== amount,
    'has a line whose net is not gross less fee': own.some(
      (one) => one.net !== one.gross - one.fee,
    ),
  })
}

/** A batch is the sum of its lines, all of them completed before its day. */
const ofLines = (batch: StoredBatch, { lines }: Books): string[] => {
  const { id, date, totals, sealedAt, status } = batch
  const own = lines.filter(({ pk }) => pk === `BATCH#${id}`)
  const debits = own.filter(({ type }) => type === 'debit')
  const expected: Totals = {
    count: own.length,
    debits: debits.length,
    gross: sum(debits.map(({ gross }) => gross)),
    fee: sum(debits.map(({ fee }) => fee)),
    adjustments: sum(own.filter(({ type }) => type === 'adjustment').map(({ net }) => net)),
    net: sum(own.map(({ net }) => net)),
  }
  return named(id, {
    'has no line': own.length === 0,
    'has a line of its own day or later': own.some(
      ({ completedAt }) => Date.parse(completedAt) >= Date.parse(date),
    ),
    'is paid without totals': totals === null && status !== 'pending',
    'has totals and is not sealed': totals !== null && !sealedAt,
    'is not the sum of its lines':
      totals !== null &&
      (Object.keys(expected) as (keyof Totals)[]).some((name) => totals[name] !== expected[name]),
  })
}

/** A net is paid or offsets batches below zero; what these lack is outstanding. */
const ofPayment = (batch: StoredBatch, { batches }: Books): string[] => {
  const { id, status, offsets, outstanding, offsetBy } = batch
  const net = netOf(batch)
  const given = sum(offsets.map(({ amount }) => amount))
  const received = sum(
    batches.flatMap((other) =>
      other.offsets.flatMap((offset) => (offset.batch === id ? [offset.amount] : [])),
    ),
  )
  const isCompleted = status === 'completed'
  return net >= 0
    ? named(id, {
        'does not pay its net': isBegun(batch) && (batch.paid ?? 0) + given !== net,
        'offsets others without being paid': !isBegun(batch) && given !== 0,
        'is offset and not below zero': outstanding !== 0 || received !== 0,
      })
    : named(id, {
        'has the wrong outstanding amount': outstanding !== net + received,
        'is completed with an outstanding amount': isCompleted && outstanding !== 0,
        'is completed by no batch, or not completed by one': isCompleted !== (offsetBy !== null),
      })
}

/** `net` is the sum of the other three. */
export const accountsOf = ({ batches }: Books) => ({
  net: sum(batches.map(netOf)),
  outstanding: sum(batches.map(({ outstanding }) => outstanding)),
  paid: sum(batches.filter(isBegun).map(({ paid }) => paid ?? 0)),
  unpaid: sum(batches.filter((batch) => !isBegun(batch) && netOf(batch) > 0).map(netOf)),
})
