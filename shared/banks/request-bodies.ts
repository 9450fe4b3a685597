import * as v from 'valibot'
import type { Complete, Shows } from '../domain/complete.ts'
import type { Submission } from '../domain/debits/submission.ts'
import { BatchId, Reference, Uuid } from '../domain/ids.ts'
import { CURRENCY, formatAmount } from '../domain/money.ts'
import type { SettlementAccount } from '../domain/providers/provider.ts'
import type { Payout, RefundPayment } from '../domain/settlement/payout.ts'
import { Day } from '../domain/time.ts'
import { AmountText, NullableText, named, Phone, Time } from '../views/fields.ts'

/**
 * The bodies that a bank receives (docs/bank-protocol.md), and their schemas for descriptions and kits.
 * No body contains the current time. A repeat has the same bytes, except the account of a submission; after a
 * restore also reason and time of a refund.
 */

/** A body does not compile while its schema has no member for a key of its source. */
type BodyOf<Body extends Source, Source> = Body

const money = () => ({ amount: AmountText, currency: v.literal(CURRENCY) })

/** The provider, for the customer's prompt and account statement. */
const payee = () => named('Payee', v.object({ name: v.string() }))

export const submissionSchema = () =>
  v.object({
    uuid: Uuid,
    reference: Reference,
    phone_number: Phone,
    account_number: v.optional(v.string()),
    ...money(),
    payee: payee(),
    narration: v.string(),
    timestamp: Time,
  })

type SubmissionBody = BodyOf<
  Complete<v.InferInput<ReturnType<typeof submissionSchema>>>,
  Shows<Submission, 'phone' | 'account' | 'providerName' | 'createdAt' | 'bank' | 'repeated'>
>

export const submissionBody = (submission: Submission): SubmissionBody => ({
  uuid: submission.uuid,
  reference: submission.reference,
  phone_number: submission.phone,
  account_number: submission.account?.accountNumber,
  amount: formatAmount(submission.amount),
  currency: CURRENCY,
  payee: { name: submission.providerName },
  narration: submission.narration,
  timestamp: submission.createdAt.toISOString(),
})

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

type PayoutBody = BodyOf<
  Complete<v.InferInput<ReturnType<typeof payoutSchema>>>,
  Shows<Payout, 'provider' | 'account' | 'repeated'> & Shows<SettlementAccount, 'bank'>
>

export const payoutBody = ({ account, ...payout }: Payout): PayoutBody => ({
  uuid: payout.uuid,
  batch: payout.batch,
  // The published name.
  partner: payout.provider,
  account_number: account.accountNumber,
  account_name: account.accountName,
  amount: formatAmount(payout.amount),
  currency: payout.currency,
  date: payout.date,
})

export const refundOrderSchema = () =>
  v.object({
    uuid: Uuid,
    debit_uuid: Uuid,
    bank_reference: NullableText,
    account_number: NullableText,
    ...money(),
    payee: payee(),
    reason: v.string(),
    timestamp: Time,
  })

type RefundBody = BodyOf<
  Complete<v.InferInput<ReturnType<typeof refundOrderSchema>>>,
  Shows<RefundPayment, 'debitBankReference' | 'providerName' | 'createdAt' | 'bank' | 'repeated'>
>

export const refundBody = (refund: RefundPayment): RefundBody => ({
  uuid: refund.uuid,
  debit_uuid: refund.debitUuid,
  bank_reference: refund.debitBankReference,
  account_number: refund.accountNumber,
  amount: formatAmount(refund.amount),
  currency: CURRENCY,
  payee: { name: refund.providerName },
  reason: refund.reason ?? '',
  timestamp: refund.createdAt.toISOString(),
})
