/** error_details.code of a failed debit (docs/api.md#failure-codes). */
export const failureCodes = [
  'insufficient_funds',
  'invalid_account',
  'transaction_declined',
  'timeout',
  'network_error',
  'unknown_error',
] as const
export type FailureCode = (typeof failureCodes)[number]

// Banks report a cause as text; the first matching row selects the code (docs/api.md#failure-codes).
const CAUSES: readonly (readonly [RegExp, FailureCode])[] = [
  [/insufficient|not enough|low balance/i, 'insufficient_funds'],
  [/time ?d? ?out|expired/i, 'timeout'],
  [
    /(?:invalid|unknown|no such|inactive|closed|blocked) account|account (?:number )?(?:is |does )?(?:invalid|unknown|not found|not exist|inactive|closed|blocked)/i,
    'invalid_account',
  ],
  [/declin|denied|reject|refus|cancel/i, 'transaction_declined'],
  [/network|connection|unavailable/i, 'network_error'],
]

/** Returns the error_details.code of a bank's explanation; `unknown_error` if no row matches. */
export const failureCode = (message: string): FailureCode => {
  // Some banks write codes: ACCOUNT_NOT_FOUND.
  const words = message.replaceAll(/[\s_-]+/g, ' ')
  return CAUSES.find(([cause]) => cause.test(words))?.[1] ?? 'unknown_error'
}
