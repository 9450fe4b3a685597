import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countDebits, lastEventOf } from '../../console/page/debit-counts.ts'
import type { DebitSummary } from '../../shared/views/operator/debit.ts'

const NOW = Date.parse('2026-11-22T12:34:56.000Z')
const HOUR_MS = 3_600_000

const debit = (createdMs: number, status: DebitSummary['status']): DebitSummary => {
  const at = (milliseconds: number) => new Date(milliseconds).toISOString()
  const endedAt = at(Math.min(NOW, createdMs + 30_000))
  return {
    status,
    created_at: at(createdMs),
    completed_at: status === 'completed' ? endedAt : null,
    updated_at: endedAt,
  } as DebitSummary
}

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0)

test('the chart has every debit of the last weeks once in each of its series', () => {
  const statuses = fc.constantFrom('processing', 'completed', 'failed')
  const age = fc.integer({ min: 0, max: 28 * 24 * HOUR_MS })
  fc.assert(
    fc.property(fc.array(fc.tuple(age, statuses)), (rows) => {
      const debits = rows.map(([ageMs, status]) => debit(NOW - ageMs, status as 'failed'))
      const { times, charged, completed, failed } = countDebits(debits, NOW)
      const countOf = (status: string) => rows.filter(([, other]) => other === status).length
      expect(times).toHaveLength(30)
      expect([charged, completed, failed].map(sum)).toEqual([
        rows.length,
        countOf('completed'),
        countOf('failed'),
      ])
    }),
  )
})

test.each(['completed', 'failed'] as const)(
  'the chart of a past page has a debit that is %s after the last charge',
  (status) => {
    const page = [debit(NOW - 2 * HOUR_MS, status)]
    expect(sum(countDebits(page, lastEventOf(page))[status])).toBe(1)
    expect(lastEventOf(page)).toBe(NOW - 2 * HOUR_MS + 30_000)
  },
)

test.each([
  [10 * 60_000, 60],
  [2 * HOUR_MS, 300],
  [6 * HOUR_MS, 900],
  [24 * HOUR_MS, 3_600],
  [100 * HOUR_MS, 14_400],
  [20 * 24 * HOUR_MS, 86_400],
])('a chart with a debit of %i ms ago has bars of %i seconds', (ageMs, seconds) => {
  const { times } = countDebits([debit(NOW - ageMs, 'completed')], NOW)
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(seconds)
})
