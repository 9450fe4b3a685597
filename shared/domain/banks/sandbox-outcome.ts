import * as v from 'valibot'
import { Reference } from '../ids.ts'

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
