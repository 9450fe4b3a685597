import { expect } from 'vitest'
import { type JobName, jobNames } from '../../infra/definitions/jobs.ts'
import { type OperationName, operationNames } from '../../shared/api/operations.ts'

/** The operations whose samples name a debit, a batch or a webhook, which a fresh sandbox lacks. */
const missing = new Set<string>([
  ...['get-debit-request', 'update-debit-transaction', 'debit-callback', 'list-deliveries'],
  ...['redeliver-event', 'test-webhook', 'get-settlement', 'get-settlement-report'],
  'answer-unmatched',
])

/** Returns the reply to a sample in a fresh sandbox. */
export const sampleReply = (name: string): object => {
  if (jobNames.includes(name as JobName)) return { batchItemFailures: [] }
  if (name === 'charge') return { statusCode: 202 }
  if (missing.has(name)) return { statusCode: 404 }
  if (operationNames.includes(name as OperationName)) return { statusCode: 200 }
  return name === 'manage-debit' ? { error: 'no such debit' } : { result: expect.anything() }
}
