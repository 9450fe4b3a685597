import { CURRENCY } from '../domain/money.ts'
import { type Account, balanceOf, post, trialBalance } from '../domain/settlement/ledger-entry.ts'
import type { ReportFormat } from '../domain/settlement/list-query.ts'
import type { Day } from '../domain/time.ts'
import { csvRecord, guarded } from '../settlement/report/csv.ts'
import { memberOf } from '../settlement/report/json.ts'
import {
  accountBalanceView,
  balanceView,
  entryView,
  type JournalResult,
} from '../views/operator/ledger.ts'
import type { LedgerDay } from './day.ts'

/** Renders the journal of a day, reading each entry only when its text is consumed. */
export const renderJournal = (format: ReportFormat, date: Day, day: LedgerDay) =>
  format === 'json' ? json(date, day) : csv(day)

const member = memberOf<JournalResult>()

/** One text line per entry, then the accounts. */
async function* json(
  date: Day,
  { opening, entries }: LedgerDay,
): AsyncGenerator<string, void, undefined> {
  const closing = new Map(opening)
  const turnover = { debit: new Map<Account, number>(), credit: new Map<Account, number>() }
  yield `{\n${member('date', date)},\n${member('currency', CURRENCY)},\n"${'entries' satisfies keyof JournalResult}": [`
  let separator = ''
  for await (const entry of entries) {
    post(closing, entry)
    for (const side of ['debit', 'credit'] as const) {
      turnover[side].set(entry[side], balanceOf(turnover[side], entry[side]) + entry.amount)
    }
    yield `${separator}\n${JSON.stringify(entryView(entry))}`
    separator = ','
  }
  const accounts = [...closing.keys()]
    .sort()
    .map((account) => accountBalanceView(account, { opening, ...turnover, closing }))
  yield `\n],\n${member('accounts', accounts)},\n`
  yield `${member('trial_balance', balanceView(trialBalance(closing)))}\n}\n`
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
