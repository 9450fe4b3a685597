import { expect } from 'vitest'
import { jobNames } from '../../infra/definitions/jobs.ts'
import { operationNames } from '../../shared/api/operations.ts'

/** The operations whose samples name a debit, a batch or a webhook, which a fresh sandbox lacks. */
const missing = [
  ...['get-debit-request', 'update-debit-transaction', 'debit-callback', 'list-deliveries'],
  ...['redeliver-event', 'test-webhook', 'get-settlement', 'get-settlement-report'],
]

/** The reply to each sample in a fresh sandbox. */
export const sampleReplies: Record<string, object> = {
  ...Object.fromEntries(jobNames.map((name) => [name, { batchItemFailures: [] }])),
  ...Object.fromEntries(operationNames.map((name) => [name, { statusCode: 200 }])),
  ...Object.fromEntries(
    [...missing, 'answer-unmatched'].map((name) => [name, { statusCode: 404 }]),
  ),
  charge: { statusCode: 202 },
  'manage-provider': { result: { id: 'demo' } },
  'manage-credential': {
    result: { kind: 'provider', token: expect.stringMatching(/^sk_test_[0-9A-Za-z]{39}$/) },
  },
  'manage-bank': { result: { identifier: 'CAL', maximum: '500.00' } },
  'manage-limit': { result: { provider: 'demo', daily_limit: '50000.00' } },
  'manage-connector': { result: { bank: 'GCB', connector: 'sandbox' } },
  'manage-customer': { result: { customer: 'Akosua Adjei' } },
  'manage-webhook': { result: { secret: expect.stringMatching(/^whsec_/) } },
  'manage-delivery': { result: [] },
  'manage-reconciliation': { result: { date: '2026-11-21', differences: expect.any(Number) } },
  'manage-ledger': { result: { date: '2026-11-21', trial_balance: '0.00' } },
  'manage-funding': { result: [] },
  'manage-exception': { result: [] },
  'manage-change': { result: expect.any(Array) },
  'manage-approval': { result: [] },
  'manage-restore': { result: { generation: 1, highest_generation: 1 } },
  'manage-debit': { error: 'no such debit' },
  'manage-settlement': { result: [] },
}
