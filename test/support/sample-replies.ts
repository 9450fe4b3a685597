import { expect } from 'vitest'
import { type JobName, jobNames } from '../../infra/definitions/jobs.ts'
import { type Operation, type OperationName, operations } from '../../shared/api/operations.ts'

/** A sample names a debit, a batch or a delivery that a fresh sandbox lacks. */
const NAMED = /\{(?:reference|uuid|id)\}/

const statusOf = (name: OperationName): number => {
  const { path, status }: Operation = operations[name]
  // Its providers may not request reversals.
  if (name === 'request-reversal') return 403
  // A fresh sandbox has no webhook either.
  return NAMED.test(path) || name === 'test-webhook' ? 404 : status
}

/** Returns the reply to a sample in a fresh sandbox. */
export const sampleReply = (name: string): object => {
  if (jobNames.includes(name as JobName)) return { batchItemFailures: [] }
  if (name === 'answer-unmatched') return { statusCode: 404 }
  if (name in operations) return { statusCode: statusOf(name as OperationName) }
  return name === 'manage-debit' ? { error: 'no such debit' } : { result: expect.anything() }
}
