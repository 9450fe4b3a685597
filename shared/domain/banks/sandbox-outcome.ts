import * as v from 'valibot'
import { Reference } from '../ids.ts'

/** What the sandbox bank makes of a debit (specification, Sandbox outcomes by phone number). */
export const SandboxOutcome = v.picklist([
  'completed',
  'insufficient_funds',
  'transaction_declined',
  'timeout',
])
export type SandboxOutcome = v.InferOutput<typeof SandboxOutcome>

export const SandboxReport = v.object({ reference: Reference, outcome: SandboxOutcome })
export type SandboxReport = v.InferOutput<typeof SandboxReport>
