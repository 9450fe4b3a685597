import type { BankIdentifier, CustomerAccount } from './bank.ts'
import type { FailureCode } from './debit.ts'
import type { Pesewas } from './money.ts'
import type { PhoneNumber } from './phone.ts'
import type { Reference, Uuid } from './reference.ts'

/** A pending debit as it is handed to its bank. The uuid makes a repeat recognisable. */
export type Submission = {
  reference: Reference
  uuid: Uuid
  bank: BankIdentifier
  phone: PhoneNumber
  amount: Pesewas
  narration: string
  createdAt: Date
  /** The customer's account at that bank, when the service knows it. */
  account: CustomerAccount | undefined
  /** It may have been handed over before, and what came of that is not known. */
  repeated: boolean
}

/** What the bank answered. */
export type SubmissionResult =
  | { kind: 'accepted'; bankReference: string }
  | { kind: 'rejected'; message: string; code: FailureCode; bankReference?: string }
  /** No answer, and none to be expected from asking again: the clocks decide. */
  | { kind: 'silent' }
