import type { BankIdentifier, StoredAccount } from '../banks/bank.ts'
import type { FailureCode } from '../banks/failure-code.ts'
import type { Pesewas } from '../money.ts'
import type { Refusal } from '../refusal.ts'
import {
  type ApprovalMethod,
  advance,
  type Cause,
  type Changes,
  type Debit,
  type WholeFacts,
} from './debit.ts'
import { exceptionKind, exceptionKinds } from './exception.ts'
import type { Status } from './lifecycle.ts'

/** A pending debit for its bank, which deduplicates by the uuid. */
export type Submission = Omit<
  WholeFacts,
  'provider' | 'partnerReference' | 'bank' | 'metadata' | 'countedOn'
> & {
  bank: BankIdentifier
  createdAt: Date
  /** The customer's account at that bank, if known. */
  account: StoredAccount | undefined
  /** Whether the bank may already have it, with an unknown result. */
  repeated: boolean
}

export type DebitAtBank = Pick<Submission, 'bank' | 'uuid' | 'amount'>

type FailedDebit = {
  /** `rejected`: the first reply, which an acceptance can contradict. `failed`: the outcome. */
  kind: 'rejected' | 'failed'
  message: string
  code: FailureCode
  bankReference?: string
}

export type CompletedDebit = {
  kind: 'completed'
  bankReference: string
  fee?: Pesewas
  approvalMethod?: ApprovalMethod
}

/** The final outcome of a debit at its bank. */
export type BankOutcome = CompletedDebit | FailedDebit

/** The reply of the bank to a submission. */
export type SubmissionReply =
  | { kind: 'accepted'; bankReference: string }
  | BankOutcome
  /** The bank does not reply, also to a repeat: the timeouts decide. */
  | { kind: 'silent' }

/** `unprompted`: the debit was not sent to the bank (docs/api.md#approval-prompts). */
export type SubmissionResult = SubmissionReply | { kind: 'unprompted' }

/**
 * Returns the customer's name and account as the bank has them. Unknown if the account has changed since the
 * charge: an earlier submission may have named the previous one.
 */
export const submittedCustomer = ({
  account,
  createdAt,
  repeated,
}: Submission): Pick<Changes, 'customerName' | 'accountNumber'> => {
  if (!account) return {}
  const { customerName, accountNumber, changedAt } = account
  const isUnchanged = changedAt === undefined || new Date(changedAt) <= createdAt
  return repeated && !isUnchanged ? {} : { customerName, accountNumber }
}

/** Reports whether a debit has ended otherwise than its bank reports. */
export const contradictsEnd = (status: Status, outcome: BankOutcome): boolean => {
  const reported = outcome.kind === 'completed' ? 'completed' : 'failed'
  return exceptionKinds[exceptionKind(status, reported)].contradicts
}

export const applyOutcome = (
  debit: Debit,
  outcome: BankOutcome,
  { changes = {}, ...cause }: Cause & { changes?: Changes },
): Debit | Refusal => {
  if (outcome.kind === 'completed') {
    const { kind: _, ...details } = outcome
    return advance(debit, { ...cause, to: 'completed', changes: { ...changes, ...details } })
  }
  const { kind: _, message, code, ...details } = outcome
  const failure = { ...changes, ...details, errorMessage: message, errorCode: code }
  return advance(debit, { ...cause, to: 'failed', changes: failure })
}
