import { expect, test } from 'vitest'
import { agesText } from '../../console/page/ages.ts'
import { countOutcomes, outcomesOf } from '../../console/page/outcomes.ts'
import type { DebitSummary } from '../../shared/views/operator/debit.ts'

const NOW = Date.parse('2026-11-22T12:00:00.000Z')
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString()

/** A debit that was charged so many seconds ago and ended some seconds later. */
const debit = (bank: string, charged: number, took: number, code?: string) =>
  ({
    ...{ reference: `DCS-${charged}`, bank, provider: 'demo', created_at: ago(charged) },
    status: code ? 'failed' : 'completed',
    completed_at: code ? null : ago(charged - took),
    updated_at: ago(charged - took),
    error_code: code ?? null,
  }) as DebitSummary

const debits = [
  ...Array.from({ length: 19 }, (_, index) => debit('GCB', 100 + index, 5)),
  debit('GCB', 60, 30, 'timeout'),
  debit('ECO', 500, 10, 'invalid_account'),
  debit('ECO', 300, 20, 'insufficient_funds'),
  debit('ECO', 10, 1),
  debit('ABSA', 2_000, 100),
]

const outcomesBy = (kind: 'bank' | 'provider', own: readonly DebitSummary[]) =>
  outcomesOf(countOutcomes(own, NOW - 900_000)[kind])

test('a bank has its share, p95 and last error of the last 15 minutes, the lowest share first', () => {
  expect(outcomesBy('bank', debits)).toEqual([
    {
      ...{ name: 'ECO', completed: 1, failed: 2, share: 33, p95: 1 },
      lastError: { reference: 'DCS-300', code: 'insufficient_funds', at: ago(280) },
    },
    {
      ...{ name: 'GCB', completed: 19, failed: 1, share: 95, p95: 5 },
      lastError: { reference: 'DCS-60', code: 'timeout', at: ago(30) },
    },
  ])
})

test('a provider counts the outcomes of all banks, and an open debit counts nowhere', () => {
  const open = { ...debit('GCB', 50, 0), status: 'processing', completed_at: null } as DebitSummary
  expect(outcomesBy('provider', [...debits, open])).toMatchObject([
    { name: 'demo', completed: 20, failed: 3, share: 86 },
  ])
})

test('the ages of open objects are counted in three groups', () => {
  expect(agesText([ago(60), ago(3_599), ago(3_601), ago(90_000)], NOW)).toBe(
    '2 of the last hour, 1 of the last day, 1 older than a day',
  )
  expect(agesText([], NOW)).toBe('')
})
