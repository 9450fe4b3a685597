import * as v from 'valibot'
import { oneOf } from '../text.ts'
import { failureCodes } from './failure-code.ts'

/** The behaviour of the sandbox bank that an operator chose (docs/testing.md#bank-behaviour). */
export const BankBehaviour = v.object({
  as: oneOf(['down', 'slow', 'silent', 'rejecting']),
  /** The failure code of `rejecting`. */
  code: v.nullable(oneOf(failureCodes)),
  /** An ISO time; null: until an operator ends it. */
  until: v.nullable(v.string()),
})
export type BankBehaviour = v.InferOutput<typeof BankBehaviour>
