import type { BatchId } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Account, Balances } from '../domain/settlement/ledger-entry.ts'
import { type Findings, newFindings, type PartFinding } from './findings.ts'
import type { Window } from './records.ts'
import type { SlicedSpan } from './slices.ts'
import { type Amounts, amountNames, noAmounts } from './sums.ts'

/** The work of a part, and what it finds. Both are stored as JSON. */

/** Debits of a provider: those of the day, recently ended ones, reversed and unsettled ones. */
export type SpanTask = { type: 'debits' | 'ended' | 'reversed' | 'unsettled' } & SlicedSpan

export type Task =
  | SpanTask
  | { type: 'exceptions' | 'refunds' | 'total' | 'ledger' }
  | { type: 'feed'; below?: number }
  /** `unpaid`: older batches that are due or failed; a run of an earlier version has those of all. */
  | { type: 'batches'; unpaid: readonly BatchId[] }
  | { type: 'lines'; batch: BatchId }
  /** `isLater`: sealed after the day, so that its debits were unsettled at the end of the day. */
  | { type: 'entries'; batch: BatchId; isLater: boolean }

/** The ledger entries of a provider, as balances in pesewas. */
export type LedgerPart = {
  /** Before the day, from the last stored balances on. */
  carried: Balances
  /** On the day. */
  posted: Balances
  /** The receivables of banks that follow from the debits of the day, not from entries. */
  collected: Balances
  /** The time during which unsettled debits were read. */
  read?: { from: number; until: number }
  isFailed: boolean
}

/** What the tasks of a part add up to. */
type PartResult = {
  findings: Findings
  amounts: Amounts
  ledger: LedgerPart
  /** The day's total before its debits were read; null: the provider has none. */
  total?: number | null
}

/** Dependencies of a task. Parts run one at a time. */
export type PartScope = PartResult & {
  /** `*` for tasks that concern all providers. */
  provider: ProviderId
  window: Window
  /** The day from which ledger entries are carried to the day. */
  carriedFrom: Date
  now: () => Date
  sliceMax: number
}

export const newResult = (): PartResult => ({
  findings: newFindings(),
  amounts: noAmounts(),
  ledger: newLedger(),
})

export const newLedger = (): LedgerPart => ({
  ...{ carried: new Map(), posted: new Map(), collected: new Map() },
  isFailed: false,
})

type StoredBalances = [Account, number][]

type StoredResult = {
  findings: PartFinding[]
  amounts: Record<string, string>
  ledger: Omit<LedgerPart, 'carried' | 'posted' | 'collected'> & {
    carried: StoredBalances
    posted: StoredBalances
    /** Absent: an earlier version has performed the part. */
    collected?: StoredBalances
  }
  total?: number | null
}

export const resultToText = ({ findings, amounts, ledger, ...rest }: PartResult): string => {
  const { carried, posted, collected, ...read } = ledger
  const stored: StoredResult = {
    ...('total' in rest ? { total: rest.total ?? null } : {}),
    findings: findings
      .list()
      .filter(({ checked, differences }) => checked + differences > 0)
      .map(({ title, ...finding }) => finding),
    amounts: Object.fromEntries(amountNames.map((name) => [name, String(amounts[name])])),
    ledger: { ...read, carried: [...carried], posted: [...posted], collected: [...collected] },
  }
  return JSON.stringify(stored)
}

export const resultFromText = (text: string) => {
  const { findings, amounts, ledger, ...rest } = JSON.parse(text) as StoredResult
  const { carried, posted, collected } = ledger
  const read = amountNames.map((name) => [name, BigInt(amounts[name] ?? 0)])
  return {
    ...rest,
    findings,
    amounts: Object.fromEntries(read) as Amounts,
    ledger: {
      ...ledger,
      ...{ carried: new Map(carried), posted: new Map(posted), collected: new Map(collected) },
      isFailed: ledger.isFailed || !collected,
    },
  }
}

export type StoredPart = ReturnType<typeof resultFromText>
