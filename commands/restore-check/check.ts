import { readExports } from '../../sandbox/exported-table.ts'
import type { FunctionHost } from '../../sandbox/function-host.ts'
import { openBooks } from '../../sandbox/restored-books.ts'
import { formatAmount } from '../../shared/domain/money.ts'
import type { Finding } from '../../shared/domain/operator/finding.ts'
import { type Day, dayAfter, startOf } from '../../shared/domain/time.ts'
import type { OperatorReply } from '../../shared/operator/verbs.ts'

/** Checks a copy of the books that the exports of the table, the audit and the reports are in. */

type BooksCopy = {
  /** Has the folders `lake`, `audit` and `reports`, as their buckets. */
  folder: string
  /** The copy must reach into this UTC day. */
  on: Day
  /** The days before it that are reconciled. */
  days: number
}

/** A check with what is wrong; an empty list: nothing. */
export type BooksCheck = { name: string; problems: readonly string[] }

type Reconciled = { completed_debits: object; invariants: readonly Finding[] }

type Items = Awaited<ReturnType<typeof readExports>>['items']

/** Returns the count and the sum of debits and batches by status. */
const totalsOf = (items: Items): string => {
  const totals = new Map<string, { count: number; sum: bigint }>()
  for (const { entity, status, amount, totals: sums } of items) {
    if (entity !== 'debit' && entity !== 'batch') continue
    const own = entity === 'debit' ? amount : (sums as { net?: number } | null)?.net
    const { count, sum } = totals.get(`${entity} ${status}`) ?? { count: 0, sum: 0n }
    totals.set(`${entity} ${status}`, { count: count + 1, sum: sum + BigInt(Number(own ?? 0)) })
  }
  const texts = [...totals].map(([name, { count, sum }]) => `${name} ${count} ${formatAmount(sum)}`)
  return texts.sort().join(', ')
}

const referencePrefixOf = (items: Items): string => {
  const debit = items.find(({ entity }) => entity === 'debit')
  return String(debit?.reference ?? 'DCS').split('-')[0] as string
}

/** Yields the checks: of the files, then of each day, once by the books and once by the sealed audit. */
export async function* checkBooks({ folder, on, days }: BooksCopy): AsyncGenerator<BooksCheck> {
  const { items, files, until, problems } = await readExports(`${folder}/lake`)
  const late = until < startOf(on) ? [`missing: changes since ${until.toISOString()}`] : []
  yield { name: `${files} files, ${items.length} items`, problems: [...problems, ...late] }
  yield { name: `totals ${totalsOf(items)}`, problems: [] }
  const referencePrefix = referencePrefixOf(items)
  const books = await openBooks({ items, until, folder, referencePrefix })
  yield* checkDays(books, { on, days, until })
}

type CheckedDays = Pick<BooksCopy, 'on' | 'days'> & { until: Date }

/** A check of a day by the books has its invariants. */
export type DayCheck = BooksCheck & { invariants?: readonly Finding[] }

/** Yields two checks of each day: by the sealed audit and by the books. */
export async function* checkDays(
  { invoke }: Pick<FunctionHost, 'invoke'>,
  { on, days, until }: CheckedDays,
): AsyncGenerator<DayCheck> {
  const call = async (noun: string, verb: string, options: object) => {
    const reply = (await invoke(`manage-${noun}`, { verb, options })) as OperatorReply
    if ('error' in reply) throw new Error(reply.error)
    return reply.result
  }
  for (let day = dayAfter(on, -days); day < on; day = dayAfter(day)) {
    if (startOf(day) >= until) break
    // First: a reconciliation stores missing balances.
    const verified = await call('change', 'verify', { from: day, to: day })
    const [{ result }] = verified as [{ result: string }]
    const isSealed = result === 'ok' || result === 'open'
    yield {
      name: `${day} audit ${isSealed ? result : ''}`.trim(),
      problems: isSealed ? [] : [result],
    }
    const run = await call('reconciliation', 'run', { date: day })
    const { invariants, completed_debits: sums } = run as Reconciled
    const found = invariants.flatMap(({ title, examples }) =>
      examples.map(({ subject, difference }) => `${subject}: ${difference} (${title})`),
    )
    yield { name: `${day} books ${JSON.stringify(sums)}`, problems: found, invariants }
  }
}
