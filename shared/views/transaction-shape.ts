import * as v from 'valibot'
import type { FailureCode } from '../domain/debits/debit.ts'
import { refundStatuses } from '../domain/debits/refund.ts'
import { Reference, Uuid } from '../domain/ids.ts'

/** What the views of a transaction produce, as schemas: for the description of the API. */

export const Time = v.pipe(v.string(), v.isoTimestamp(), v.metadata({ format: 'date-time' }))

/** Amounts in replies: text with exactly two decimals. */
export const AmountText = v.pipe(v.string(), v.regex(/^[0-9]+\.[0-9]{2}$/))

export const DebitId = v.pipe(v.string(), v.regex(/^dt_[0-9]+$/))

export const Phone = v.pipe(v.string(), v.regex(/^\+233[1-9][0-9]{8}$/))

/** Provider-side spelling of how the customer approved. */
export const ApprovalView = v.picklist(['ussd', 'mobile_app', 'web', 'direct'])

/** What `bankView` produces. */
export const BankShape = v.object({
  name: v.string(),
  identifier: v.pipe(v.string(), v.regex(/^[A-Z0-9]{3,5}$/)),
  country_code: v.literal('GH'),
})

const failureCodes = {
  insufficient_funds: true,
  invalid_account: true,
  transaction_declined: true,
  timeout: true,
  network_error: true,
  unknown_error: true,
} as const satisfies Record<FailureCode, true>

/** The failure of a debit, as `errorDetails` produces it. */
export const ErrorDetails = v.object({
  message: v.nullable(v.string()),
  code: v.picklist(Object.keys(failureCodes) as FailureCode[]),
})

/** The shape of `refundView`. */
export const refundShape = (amount: v.GenericSchema) =>
  v.object({
    uuid: Uuid,
    status: v.picklist(refundStatuses),
    amount,
    currency: v.literal('GHS'),
    reason: v.pipe(v.string(), v.description('Reason of the refund')),
    bank_reference: v.nullable(v.string()),
    error_message: v.nullable(v.string()),
    created_at: Time,
    processed_at: v.nullable(Time),
    completed_at: v.nullable(Time),
    failed_at: v.nullable(Time),
  })

type Forms<Status extends readonly string[]> = {
  statuses: Status
  amount: v.GenericSchema
}

/** What `transactionView` produces: amounts are text or numbers, statuses as the place has them. */
export const transactionShape = <const Status extends readonly string[]>({
  statuses,
  amount,
}: Forms<Status>) => ({
  id: DebitId,
  uuid: Uuid,
  reference: Reference,
  partner_reference: v.string(),
  status: v.picklist(statuses),
  amount,
  currency: v.literal('GHS'),
  fee: v.nullable(amount),
  narration: v.string(),
  approval_method: v.nullable(ApprovalView),
  bank_reference: v.nullable(v.string()),
  error_message: v.nullable(v.string()),
  created_at: Time,
  processed_at: v.nullable(Time),
  completed_at: v.nullable(Time),
  bank: BankShape,
  customer: v.object({
    name: v.nullable(v.string()),
    phone_number: Phone,
    account_number: v.nullable(v.string()),
  }),
})
