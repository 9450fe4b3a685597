import type { Day } from '../time.ts'
import type { MovementKind } from './statement-row.ts'

/** The comparison of what a bank moved with its statement of a day (docs/api.md#bank-statements). */

/** Days around that of a statement: the service may learn later what the bank moved on it. */
export const AROUND_DAYS = 3
/** Movements of later days that a stored statement names: 200 kB of the 400 kB of an item. */
export const AHEAD_MAX = 5_000

/** Money that a bank moved. Its uuid is that of the last instruction to the bank. */
export type Movement = {
  kind: MovementKind
  /** Of the debit, or of the batch. */
  reference: string
  provider: string
  uuid: string
  /** The uuids of instructions that the bank rejected before, and may have carried out later. */
  earlier?: readonly string[]
  bank_reference: string | null
  amount: string
  status: string
  /**
   * The bank cannot have moved the money earlier. Undefined for a rejected payout, and in a reply
   * of an earlier version.
   */
  begun_at?: string
  completed_at: string | null
}

/** The movements that compared statements of the days before name: uuid to the day of the statement. */
export type Booked = {
  days: Record<string, Day>
  /** Null: none. */
  digest: string | null
}

/** A position in one of a provider's lists. */
export type BankDebitsCursor = { provider: string; list: string; after: string | null }

export type BankDebitsPage = {
  debits: Movement[]
  next: BankDebitsCursor | null
  /** Requested uuids of our own form that no debit of the bank has; undefined in a reply of an earlier version. */
  absent?: string[]
  /** With the first page of a day; `read_at`: the time before it was read. */
  booked?: Booked
  read_at?: string
}
/** Refunds or payouts; the next page begins after a position. */
export type OutgoingPage = { outgoing: Movement[]; next: string | null }

/** A row of the statement with its debit, or a debit that has no row. */
export type StatementExample = Partial<Omit<Movement, 'uuid' | 'kind' | 'earlier'>> & {
  kind: MovementKind | 'outgoing'
  uuid: string | null
  line?: number
  currency?: string
  reason?: string
}
export type StatementGroup = { count: number; sum: string; examples: StatementExample[] }
export const statementGroups = ['matched', 'missing_here', 'missing_at_bank', 'differs'] as const
export type StatementGroupName = (typeof statementGroups)[number]
export type StatementReport = Record<StatementGroupName, StatementGroup>
