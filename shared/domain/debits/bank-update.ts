import * as v from 'valibot'
import { failureCode } from '../banks/failure-code.ts'
import { type Complete, defined, noneRemain } from '../complete.ts'
import { fitsMetadata, METADATA_TOO_LARGE, Metadata } from '../metadata.ts'
import { Fee } from '../money.ts'
import { invalid, type Refusal } from '../refusal.ts'
import { isBlank, message, oneOf, text, VISIBLE } from '../text.ts'
import { advance, approve, type Cause, type Changes, type Debit, merged } from './debit.ts'

/** The bank's own reference of a debit, a payment or a refund. */
export const BankReference = text({ max: 255 })

/** Accepts also `mobile_app`, the name that providers read (docs/api.md#approval-methods). */
export const BankApproval = v.pipe(
  oneOf(['ussd', 'mobile_api', 'web', 'mobile_app']),
  v.transform((method) => (method === 'mobile_app' ? 'mobile_api' : method)),
)

/** The bank's explanation of a failure; the service stores its first 2,000 characters. */
export const ErrorMessage = message({ max: 2_000 })

// Serialisers of several languages write null for an absent field.
const fields = {
  bank_reference: BankReference,
  approval_method: v.nullish(BankApproval),
  fee: v.nullish(Fee),
  metadata: v.nullish(Metadata),
}

const report = <const S extends readonly string[]>(statuses: S) =>
  v.pipe(
    v.object(
      { ...fields, status: oneOf(statuses), error_message: v.nullish(ErrorMessage) },
      'is required',
    ),
    // Partial, so that the reply lists all errors of a report at once.
    v.forward(
      v.partialCheck(
        [['status'], ['error_message']],
        ({ status, error_message }) => status !== 'failed' || !isBlank(error_message ?? ''),
        'is required when status is failed',
      ),
      ['error_message'],
    ),
    v.metadata({
      if: { properties: { status: { const: 'failed' } } },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
      then: {
        properties: { error_message: { type: 'string', pattern: VISIBLE } },
        required: ['error_message'],
      },
    }),
  )

/** The body of a bank's report (docs/api.md#bank-reports). */
export const BankUpdate = report(['completed', 'failed'])
export type BankUpdate = v.InferOutput<typeof BankUpdate>

/** The body of the callback, which can also report the customer's approval (docs/api.md#callback). */
export const BankCallback = report(['approved', 'completed', 'failed'])
export type BankCallback = v.InferOutput<typeof BankCallback>

/** @returns 422/3001 for an invalid transition, 422/1007 for metadata above 8 KiB */
export const applyBankUpdate = (
  debit: Debit,
  update: BankUpdate,
  cause: Cause,
): Debit | Refusal => {
  const next = advance(debit, { ...cause, to: update.status, changes: changesOf(update) })
  if (next === debit || !('facts' in next)) return next
  if (update.metadata && !fitsMetadata(merged([debit.facts.metadata, update.metadata]))) {
    return invalid({ metadata: [METADATA_TOO_LARGE] })
  }
  return next
}

/** Applies a callback. `approved` stops the five-minute timeout only (docs/api.md#timeouts). */
export const applyBankCallback = (
  debit: Debit,
  { status, ...callback }: BankCallback,
  cause: Cause,
): Debit | Refusal =>
  status === 'approved'
    ? approve(debit, cause)
    : applyBankUpdate(debit, { ...callback, status }, cause)

const changesOf = (update: BankUpdate): Changes => {
  const { status, bank_reference, approval_method, fee, error_message, metadata, ...others } =
    update
  noneRemain(others)
  const failure = status === 'failed' && error_message ? error_message : undefined
  return defined<Complete<Changes>>({
    bankReference: bank_reference,
    approvalMethod: approval_method ?? undefined,
    fee: fee ?? undefined,
    errorMessage: failure,
    errorCode: failure === undefined ? undefined : failureCode(failure),
    metadata: metadata ?? undefined,
    // The service knows the account from its own records.
    customerName: undefined,
    accountNumber: undefined,
    // Operators reverse debits.
    refund: undefined,
  })
}
