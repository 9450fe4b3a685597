import * as v from 'valibot'
import { type Complete, noneRemain } from '../domain/complete.ts'
import type { Submission } from '../domain/debits/submission.ts'
import { BatchId, Reference, Uuid } from '../domain/ids.ts'
import { CURRENCY, formatAmount } from '../domain/money.ts'
import type { Payout, RefundPayment } from '../domain/settlement/payout.ts'
import { Day } from '../domain/time.ts'
import { AmountText, NullableText, Phone, Time } from '../views/fields.ts'

/**
 * The bodies that a bank receives (docs/bank-protocol.md), and their schemas for descriptions and kits.
 * A repeat has the same bytes: no body contains the current time.
 */

const money = () => ({ amount: AmountText, currency: v.literal(CURRENCY) })

export const submissionSchema = () =>
  v.object({
    uuid: Uuid,
    reference: Reference,
    phone_number: Phone,
    account_number: v.optional(v.string()),
    ...money(),
    narration: v.string(),
    timestamp: Time,
  })

type SubmissionBody = Complete<v.InferInput<ReturnType<typeof submissionSchema>>>

export const submissionBody = ({
  bank: _,
  repeated: _repeated,
  ...submission
}: Submission): SubmissionBody => {
  const { uuid, reference, phone, account, amount, narration, createdAt, ...others } = submission
  noneRemain(others)
  return {
    uuid,
    reference,
    phone_number: phone,
    account_number: account?.accountNumber,
    amount: formatAmount(amount),
    currency: CURRENCY,
    narration,
    timestamp: createdAt.toISOString(),
  }
}

export const payoutSchema = () =>
  v.object({
    uuid: Uuid,
    batch: BatchId,
    partner: v.string(),
    account_number: v.string(),
    account_name: v.string(),
    ...money(),
    date: Day,
  })

type PayoutBody = Complete<v.InferInput<ReturnType<typeof payoutSchema>>>

export const payoutBody = ({ repeated: _, account, ...payout }: Payout): PayoutBody => {
  const { uuid, batch, provider, amount, currency, date, ...others } = payout
  const { bank: _bank, accountNumber, accountName, ...otherParts } = account
  noneRemain(others)
  noneRemain(otherParts)
  return {
    uuid,
    batch,
    // The published name.
    partner: provider,
    account_number: accountNumber,
    account_name: accountName,
    amount: formatAmount(amount),
    currency,
    date,
  }
}

export const refundOrderSchema = () =>
  v.object({
    uuid: Uuid,
    debit_uuid: Uuid,
    bank_reference: NullableText,
    account_number: NullableText,
    ...money(),
    reason: v.string(),
    timestamp: Time,
  })

type RefundBody = Complete<v.InferInput<ReturnType<typeof refundOrderSchema>>>

export const refundBody = ({
  bank: _,
  repeated: _repeated,
  ...refund
}: RefundPayment): RefundBody => {
  const { uuid, debitUuid, debitBankReference, accountNumber, amount, ...rest } = refund
  const { reason, createdAt, ...others } = rest
  noneRemain(others)
  return {
    uuid,
    debit_uuid: debitUuid,
    bank_reference: debitBankReference,
    account_number: accountNumber,
    amount: formatAmount(amount),
    currency: CURRENCY,
    reason,
    timestamp: createdAt.toISOString(),
  }
}
