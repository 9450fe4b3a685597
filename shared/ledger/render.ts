import { CURRENCY, formatAmount, pesewas } from '../domain/money.ts'
import type { ReportFormat } from '../domain/settlement/list-query.ts'
import type { Day } from '../domain/time.ts'
import { csvRecord, guarded } from '../settlement/report/csv.ts'
import type { LedgerDay } from './day.ts'
import {
  type Account,
  balanceOf,
  entryTypes,
  type LedgerEntry,
  post,
  trialBalance,
} from './entry.ts'

/** Renders the journal of a day, reading each entry only when its text is consumed. */
export const renderJournal = (format: ReportFormat, date: Day, day: LedgerDay) =>
  format === 'json' ? json(date, day) : csv(day)

const amountOf = (amount: number): string => formatAmount(pesewas(amount))
const NOTHING = amountOf(0)

const linesOf = ({ debit, credit, amount }: LedgerEntry) => [
  { account: debit, debit: amountOf(amount), credit: NOTHING },
  { account: credit, debit: NOTHING, credit: amountOf(amount) },
]

export const entryView = (entry: LedgerEntry) => ({
  time: entry.at.toISOString(),
  type: entry.type,
  source: entry.source,
  description: entryTypes[entry.type],
  lines: linesOf(entry),
})

/** One text line per entry, then the accounts. */
async function* json(
  date: Day,
  { opening, entries }: LedgerDay,
): AsyncGenerator<string, void, undefined> {
  const closing = new Map(opening)
  const turnover = { debit: new Map<Account, number>(), credit: new Map<Account, number>() }
  yield `{\n"date": "${date}",\n"currency": "${CURRENCY}",\n"entries": [`
  let separator = ''
  for await (const entry of entries) {
    post(closing, entry)
    for (const side of ['debit', 'credit'] as const) {
      turnover[side].set(entry[side], (turnover[side].get(entry[side]) ?? 0) + entry.amount)
    }
    yield `${separator}\n${JSON.stringify(entryView(entry))}`
    separator = ','
  }
  const accounts = [...closing.keys()]
    .sort()
    .map((account) => ({
      account,
      opening: amountOf(balanceOf(opening, account)),
      debit: amountOf(turnover.debit.get(account) ?? 0),
      credit: amountOf(turnover.credit.get(account) ?? 0),
      closing: amountOf(balanceOf(closing, account)),
    }))
  yield `\n],\n"accounts": ${JSON.stringify(accounts)},\n`
  yield `"trial_balance": "${amountOf(trialBalance(closing))}"\n}\n`
}

const COLUMNS = [
  'entry',
  'time',
  'type',
  'source_type',
  'source_id',
  'reference',
  'account',
  'debit',
  'credit',
  'currency',
  'description',
]

/** A header, then two records per entry. */
async function* csv({ entries }: LedgerDay): AsyncGenerator<string, void, undefined> {
  yield csvRecord(COLUMNS)
  let number = 0
  for await (const entry of entries) {
    number += 1
    const { time, type, source, description, lines } = entryView(entry)
    const { type: kind, id, reference = '' } = source
    const first = [String(number), time, type, kind, guarded(id), reference]
    for (const { account, debit, credit } of lines) {
      yield csvRecord([...first, account, debit, credit, CURRENCY, description])
    }
  }
}
