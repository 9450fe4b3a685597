import type { BankIdentifier } from '../banks/bank.ts'
import type { MovementKind } from '../banks/statement-row.ts'
import type { Ages } from '../settlement/ages.ts'
import type { Day } from '../time.ts'

/** The closing of a day (docs/operators.md#close-a-day). */

/** What an operator must still do, and the command that leads on. */
export type OpenMatter = {
  check: 'day' | 'reconciliation' | 'ledger' | 'statement' | 'exception' | 'batch' | 'debit'
  subject: string
  reason: string
  command: string
}

/** The pesewas that a bank moved on a day, by kind, and its receivable at the end of the day, also by age. */
export type BankDay = {
  bank: BankIdentifier
  moved: Record<MovementKind, bigint>
  remitted: bigint
  receivable: bigint
  ages: Ages
  /** `early`: compared before the day ended, that of an earlier day, or a reversal without a refund. */
  statement: 'agrees' | 'differs' | 'early' | 'missing'
}

export type DayClosing = {
  date: Day
  open: readonly OpenMatter[]
  banks: readonly BankDay[]
  /** The providers that owe money to the service at the end of the day; balances below zero. */
  owing: readonly { provider: string; balance: bigint; ages: Ages }[]
}
