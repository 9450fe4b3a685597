import type { BankIdentifier } from '../banks/bank.ts'
import type { Pesewas } from '../money.ts'
import type { Day } from '../time.ts'

/** Cash that a bank has remitted to the service. */
export type Funding = {
  bank: BankIdentifier
  /** The bank's reference; unique per bank. */
  reference: string
  amount: Pesewas
  /** The UTC day on which the cash arrived. */
  date: Day
  recordedAt: Date
  recordedBy: string
}

export const isSameFunding = (
  one: Pick<Funding, 'amount' | 'date'>,
  other: Pick<Funding, 'amount' | 'date'>,
): boolean => one.amount === other.amount && one.date === other.date
