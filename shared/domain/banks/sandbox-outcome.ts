import * as v from 'valibot'
import { Reference } from '../ids.ts'
import type { FailureCode } from './failure-code.ts'

/** The outcome of a debit at the sandbox bank (docs/api.md#sandbox). */
export const SandboxOutcome = v.picklist([
  'completed',
  'insufficient_funds',
  'transaction_declined',
  'timeout',
])
export type SandboxOutcome = v.InferOutput<typeof SandboxOutcome>

export const SandboxReport = v.object({ reference: Reference, outcome: SandboxOutcome })
export type SandboxReport = v.InferOutput<typeof SandboxReport>

/** The delay of the report (docs/api.md#sandbox). */
export const OUTCOME_SECONDS = 30

/** The messages of the sandbox bank, each with the cause that the service reads as its code. */
export const failureMessages = {
  insufficient_funds: 'Insufficient funds',
  invalid_account: 'Account not found or inactive',
  transaction_declined: 'Transaction declined by customer',
  timeout: 'The customer did not respond before the timeout',
  network_error: 'Network unavailable',
  unknown_error: 'Unknown error',
} as const satisfies Record<FailureCode, string>
