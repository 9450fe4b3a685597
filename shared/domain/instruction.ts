import type { BankIdentifier } from './bank.ts'
import type { Pesewas } from './money.ts'
import type { PartnerId } from './partner.ts'
import type { Uuid } from './reference.ts'
import type { BatchId, Day } from './settlement.ts'

/**
 * One payment to a partner, as the bank of its account is told to make it (specification, What the
 * service does, 6). The uuid makes a repeat recognisable, to that bank alone: amount and account
 * must be those of the first time, or two banks may pay.
 */
export type Instruction = {
  uuid: Uuid
  batch: BatchId
  partner: PartnerId
  /** More than nothing. */
  amount: Pesewas
  currency: 'GHS'
  account: { bank: BankIdentifier; accountNumber: string; accountName: string }
  /** The day of the batch. */
  date: Day
  /** It may have been given before, and its last word is not known. */
  repeated: boolean
}

/** What the bank answered. Paid and rejected are last words: no later answer differs. */
export type InstructionResult =
  | { kind: 'paid'; bankReference: string }
  | { kind: 'rejected'; message: string; bankReference?: string }
  /** The bank has it, and is to be asked again. */
  | { kind: 'underway' }
