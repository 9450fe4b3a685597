import * as v from 'valibot'
import { type Debit, stateAt } from '../domain/debits/debit.ts'
import type { ShownRefund } from '../domain/debits/refund.ts'
import type { RequestException } from '../domain/debits/reversal-request.ts'
import { BatchId, Reference, Uuid } from '../domain/ids.ts'
import { formatAmount } from '../domain/money.ts'
import { iso } from '../domain/time.ts'
import { bankSchema, bankView } from './bank.ts'
import { AmountText, FreeForm, NullableText, NullableTime, named, Time } from './fields.ts'
import { refundSchema, refundView } from './refund.ts'
import { reversalRequestSchema, reversalRequestView } from './reversal-request.ts'
import * as transaction from './transaction.ts'

/** Shows a new debit in the reply of the charge (docs/api.md#charge). */
export const chargeView = (debit: Debit) => {
  const { reference, uuid, bank } = debit.facts
  return {
    reference,
    status: debit.status,
    response: {
      uuid,
      status: debit.status,
      timestamp: iso(stateAt(debit).updatedAt),
      reference,
      bank: bankView(bank),
    },
  }
}

export const chargeSchema = () =>
  named(
    'Charge',
    v.object({
      reference: Reference,
      status: transaction.debitStatusSchema(),
      response: v.object({
        uuid: Uuid,
        status: transaction.debitStatusSchema(),
        timestamp: Time,
        reference: Reference,
        bank: bankSchema(),
      }),
    }),
  )

/** Shows a debit in the list of its provider (docs/api.md#debit-list). */
export const debitView = (debit: Debit) => {
  const state = stateAt(debit)
  return {
    ...transaction.transactionView(state, formatAmount),
    metadata: state.metadata,
    error_details: transaction.errorDetails(state),
  }
}

const debitEntries = () => ({
  ...transaction.transactionEntries(transaction.debitStatusSchema(), AmountText),
  metadata: v.nullable(FreeForm),
  error_details: v.nullable(transaction.errorDetailsSchema()),
})

export const debitSchema = () => named('Debit', v.object(debitEntries()))

/** What else the status read shows of a debit. */
export type Attached = { refund: ShownRefund | null; request: RequestException | null }

/** Shows a debit in both published forms of the status read (docs/api.md#status-read). */
export const statusView = (debit: Debit, { refund, request }: Attached) => {
  const state = stateAt(debit)
  return {
    ...debitView(debit),
    settlement: debit.settledIn
      ? { batch_id: debit.settledIn, adjusted_in: debit.adjustedIn ?? null }
      : null,
    refund: refund && refundView(refund, formatAmount),
    reversal_request: request && reversalRequestView(request),
    response: {
      uuid: state.uuid,
      status: debit.status,
      timestamp: iso(state.updatedAt),
      processed_at: iso(state.processedAt),
      completed_at: iso(state.completedAt),
      bank_reference: state.bankReference,
      approval_method: transaction.approvalMethodView(state.approvalMethod),
      error_message: state.errorMessage,
      error_details: transaction.errorDetails(state),
    },
  }
}

export const statusSchema = () =>
  named(
    'DebitDetail',
    v.object({
      ...debitEntries(),
      refund: v.nullable(refundSchema(AmountText)),
      reversal_request: v.nullable(reversalRequestSchema()),
      settlement: v.nullable(
        named('DebitSettlement', v.object({ batch_id: BatchId, adjusted_in: v.nullable(BatchId) })),
      ),
      response: v.object({
        uuid: Uuid,
        status: transaction.debitStatusSchema(),
        timestamp: Time,
        processed_at: NullableTime,
        completed_at: NullableTime,
        bank_reference: NullableText,
        approval_method: transaction.approvalMethodSchema(),
        error_message: NullableText,
        error_details: v.nullable(transaction.errorDetailsSchema()),
      }),
    }),
  )
