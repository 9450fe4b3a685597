import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { invalid, Refusal } from '../../shared/domain/refusal.ts'
import {
  type Account,
  balanceOf,
  type LedgerEntry,
} from '../../shared/domain/settlement/ledger-entry.ts'
import { openDay, openDays } from '../../shared/ledger/day.ts'
import { renderJournal } from '../../shared/ledger/render.ts'
import { noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { ledger } from '../../shared/operator/nouns/ledger.ts'
import { real, timeLimit } from '../../shared/runtime.ts'
import { readReport, writeReport } from '../../shared/settlement/report/bucket.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { findProvider } from '../../shared/store/providers/providers.ts'
import { refusalOfDay } from '../../shared/store/retention.ts'
import { accountStatementView } from '../../shared/views/operator/ledger.ts'

/** The command downloads a longer journal from S3. */
const REPLY_MAX_BYTES = 1024 * 1024

const ENTRIES_MAX = 10_000

/** The part of the function's fifteen minutes that a call uses. */
const RUN_MS = 780_000

/** Returns the provider whose account it is. A mistyped account would read as zero. */
const providerOf = async (account: string) => {
  const [kind, owner = ''] = account.split(':')
  if (kind === 'bank_receivable' && !(await findBank(owner))) return noSuch('bank')
  if (kind !== 'provider_payable') return undefined
  return (await findProvider(owner as ProviderId))?.id ?? noSuch('provider')
}

export const manageLedger = operatorHandler(ledger, {
  account: async ({ account: name, from, to }, { at }, { wallTime }) => {
    const provider = refusalOfDay('from', from, at) ?? (await providerOf(name))
    if (provider instanceof Refusal) return provider
    const timeIsUp = timeLimit({ now: wallTime }, RUN_MS)
    const account = name as Account
    const { opening, entries } = await openDays(from, to, provider)
    const own: LedgerEntry[] = []
    for await (const entry of entries) {
      if (timeIsUp()) return invalid({ to: ['needs fewer days: the time was up'] })
      if (entry.debit !== account && entry.credit !== account) continue
      if (own.length === ENTRIES_MAX)
        return invalid({ to: ['needs fewer days: over 10000 entries'] })
      own.push(entry)
    }
    return accountStatementView({ account, from, to, opening: balanceOf(opening, account) }, own)
  },
  show: async ({ date, format }, { at }) => {
    const expired = refusalOfDay('date', date, at)
    if (expired) return expired
    const day = await openDay(date)
    const report = { journal: date }
    await writeReport(report, format, renderJournal(format, date, day))
    const written = await readReport(report, format, REPLY_MAX_BYTES)
    if (!written) throw new Error(`The journal of ${date} is gone`)
    if ('download' in written) return written
    return format === 'csv' ? written.text : JSON.parse(written.text)
  },
})

export const handler = manageLedger(real)
