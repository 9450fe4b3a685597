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
  /** The oldest first. Absent: none. */
  corrections?: readonly Correction[]
}

/** A correcting entry, which replaces the amount of a remittance. */
export type Correction = {
  amount: Pesewas
  reason: string
  /** ISO 8601. */
  at: string
  by: string
}

/** Returns the amount after all corrections. */
export const fundingAmount = ({ amount, corrections = [] }: Funding): Pesewas =>
  corrections.at(-1)?.amount ?? amount

/** Reports whether a remittance has these values, at first or after its corrections. */
export const isSameFunding = (
  recorded: Funding,
  { amount, date }: Pick<Funding, 'amount' | 'date'>,
): boolean => recorded.date === date && [recorded.amount, fundingAmount(recorded)].includes(amount)
