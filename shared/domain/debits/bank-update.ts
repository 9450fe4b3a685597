import * as v from 'valibot'
import { fitsMetadata, METADATA_TOO_LARGE, Metadata } from '../metadata.ts'
import { Fee } from '../money.ts'
import { invalid, type Refusal } from '../refusal.ts'
import { isBlank, message, oneOf, text } from '../text.ts'
import {
  advance,
  approve,
  type Cause,
  type Changes,
  type Debit,
  type FailureCode,
  merged,
} from './debit.ts'

/** The bank's own reference of a debit, a payment or a refund. */
export const BankReference = text({ max: 255 })

/** How the customer approved. `mobile_app`, the name that providers read, is accepted as well. */
export const BankApproval = v.pipe(
  oneOf(['ussd', 'mobile_api', 'web', 'mobile_app']),
  v.transform((method) => (method === 'mobile_app' ? 'mobile_api' : method)),
)

/** The bank's words about a failure. The service stores this many characters of them. */
export const ErrorMessage = message({ max: 2_000 })

// Serialisers of several languages write null for an absent field.
const fields = {
  bank_reference: BankReference,
  approval_method: v.nullish(BankApproval),
  fee: v.nullish(Fee),
  metadata: v.nullish(Metadata),
}

/** A report with one of these statuses. */
const report = <const S extends readonly string[]>(statuses: S) =>
  v.pipe(
    v.object(
      {
        ...fields,
        status: oneOf(statuses),
        error_message: v.nullish(ErrorMessage),
      },
      'is required',
    ),
    // Partial, so that a failed report without its message is told of all its faults at once.
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
        properties: { error_message: { type: 'string', pattern: '\\S' } },
        required: ['error_message'],
      },
    }),
  )

/** The body of a bank's report (specification, Update transaction status). */
export const BankUpdate = report(['completed', 'failed'])
export type BankUpdate = v.InferOutput<typeof BankUpdate>

/** The same for the callback, which may also say that the customer approved. */
export const BankCallback = report(['approved', 'completed', 'failed'])
export type BankCallback = v.InferOutput<typeof BankCallback>

// Banks report a cause in words; the first row whose words occur names the published code.
const CAUSES: readonly (readonly [RegExp, FailureCode])[] = [
  [/insufficient|not enough|low balance/i, 'insufficient_funds'],
  [/time ?d? ?-?_?out|expired/i, 'timeout'],
  [
    /(?:invalid|unknown|no such|inactive|closed|blocked) account|account (?:is )?(?:invalid|unknown|not found|inactive|closed|blocked)/i,
    'invalid_account',
  ],
  [/declin|denied|reject|refus|cancel/i, 'transaction_declined'],
  [/network|connection|unavailable/i, 'network_error'],
]

/** The published error_details.code for a bank's words; `unknown_error` when none fits. */
export const failureCode = (message: string): FailureCode =>
  CAUSES.find(([words]) => words.test(message))?.[1] ?? 'unknown_error'

/**
 * The debit after a bank's report; the very same object when it already has that status.
 * A fee above the amount is accepted: settlement deducts the amount at most.
 * @returns 422/3001 for an invalid transition, 422/1007 for metadata that exceeds its bound
 */
export const applyBankUpdate = (
  debit: Debit,
  update: BankUpdate,
  cause: Cause,
): Debit | Refusal => {
  const after = advance(debit, { ...cause, to: update.status, changes: changesOf(update) })
  if (after === debit || !('facts' in after)) return after
  if (update.metadata && !fitsMetadata(merged([debit.facts.metadata, update.metadata]))) {
    return invalid({ metadata: [METADATA_TOO_LARGE] })
  }
  return after
}

/** The debit after a callback: `approved` stops the five-minute clock, and no more. */
export const applyBankCallback = (
  debit: Debit,
  { status, ...callback }: BankCallback,
  cause: Cause,
): Debit | Refusal =>
  status === 'approved'
    ? approve(debit, cause)
    : applyBankUpdate(debit, { ...callback, status }, cause)

const changesOf = (update: BankUpdate): Changes => ({
  bankReference: update.bank_reference,
  ...(update.approval_method ? { approvalMethod: update.approval_method } : {}),
  ...(typeof update.fee === 'number' ? { fee: update.fee } : {}),
  ...(update.metadata ? { metadata: update.metadata } : {}),
  ...(update.status === 'failed' && update.error_message
    ? { errorMessage: update.error_message, errorCode: failureCode(update.error_message) }
    : {}),
})
