import * as v from 'valibot'
import type { Shows } from '../domain/complete.ts'
import { type Refund, type ShownRefund, shownRefundStatuses } from '../domain/debits/refund.ts'
import { Uuid } from '../domain/ids.ts'
import { CURRENCY } from '../domain/money.ts'
import { iso } from '../domain/time.ts'
import { type AmountForm, NullableText, NullableTime, namedBy, Time } from './fields.ts'

export type RefundResult = ReturnType<typeof refundView<string>>

/** Shows a refund to providers and operators (docs/api.md#refunds). */
export const refundView = <A>(refund: ShownRefund, amountOf: AmountForm<A>) =>
  ({
    uuid: refund.uuid,
    status: refund.status,
    amount: amountOf(refund.amount),
    currency: CURRENCY,
    reason: refund.reason,
    bank_reference: refund.bankReference,
    // An erasure leaves no text of a failure.
    error_message: refund.failure || null,
    created_at: refund.createdAt.toISOString(),
    processed_at: iso(refund.processedAt),
    completed_at: iso(refund.completedAt),
    failed_at: iso(refund.failedAt),
  }) satisfies Shows<
    Refund,
    | 'failure'
    // Members of the debit, or internal to the service.
    | 'reference'
    | 'debitUuid'
    | 'provider'
    | 'providerName'
    | 'bank'
    | 'debitBankReference'
    | 'accountNumber'
    | 'origin'
    | 'sentAt'
    | 'notedAt'
    | 'failed'
    | 'version'
  >

export const refundSchema = (amount: v.GenericSchema) =>
  namedBy(
    amount,
    'Refund',
    v.object({
      uuid: Uuid,
      status: v.picklist(shownRefundStatuses),
      amount,
      currency: v.literal(CURRENCY),
      reason: NullableText,
      bank_reference: NullableText,
      error_message: NullableText,
      created_at: Time,
      processed_at: NullableTime,
      completed_at: NullableTime,
      failed_at: NullableTime,
    }),
  )
