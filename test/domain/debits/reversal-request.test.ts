import { expect, test } from 'vitest'
import {
  countRequests,
  openRequest,
  type RequestException,
  requestReversal,
  respondBy,
} from '../../../shared/domain/debits/reversal-request.ts'
import { Refusal } from '../../../shared/domain/refusal.ts'
import type { Day } from '../../../shared/domain/time.ts'
import { granted } from '../../support/refused.ts'
import { completed } from './one-debit.ts'

/** Requests of providers to reverse a debit (docs/api.md#reversal-requests), by their times. */

const NO_HOLIDAYS = new Set<Day>()
const causeAt = (at: string) => ({ at: new Date(at), by: 'provider:demo', requestId: 'req-9' })

test.each([
  ['a Wednesday', '2026-11-25T12:00:00.000Z', [], '2026-12-02'],
  ['the last second of a Friday', '2026-11-27T23:59:59.999Z', [], '2026-12-04'],
  ['a Saturday', '2026-11-28T00:00:00.000Z', [], '2026-12-04'],
  ['a Sunday', '2026-11-29T12:00:00.000Z', [], '2026-12-04'],
  ['a Monday, with a holiday on Friday', '2026-11-30T12:00:00.000Z', ['2026-12-04'], '2026-12-08'],
  ['a holiday on a Thursday', '2026-12-03T12:00:00.000Z', ['2026-12-03'], '2026-12-10'],
])('the fifth working day after %s is the last for a decision', (_, at, holidays, day) => {
  expect(respondBy(new Date(at), new Set(holidays as Day[]))).toBe(day)
})

test('a reversal can be requested until thirty days after the completion, to the millisecond', () => {
  // The debit was charged at 10:00:00 and completed at 10:01:00 on the second of January.
  const request = (at: string) => requestReversal(completed, causeAt(at))
  expect(request('2025-02-01T10:01:00.000Z')).toMatchObject({
    reversalRequest: { requestId: 'req-9' },
  })
  const refused = request('2025-02-01T10:01:00.001Z')
  expect(refused).toBeInstanceOf(Refusal)
  const until = '2025-02-01T10:01:00.000Z'
  expect(refused).toMatchObject({ details: `a reversal could be requested until ${until}` })
})

test('a repeated request leaves the first one', () => {
  const first = granted(requestReversal(completed, causeAt('2025-01-03T10:00:00.000Z')))
  expect(requestReversal(first, causeAt('2025-01-04T10:00:00.000Z'))).toBe(first)
})

test('a decision on the last day is in time; one on the day after, and none by then, is late', () => {
  // The second of January 2025 is a Thursday, so the last day is the ninth.
  const cause = causeAt('2025-01-02T12:00:00.000Z')
  const asked = { kind: 'refund', reason: 'Cancelled', cause, holidays: NO_HOLIDAYS } as const
  const open = openRequest(completed, asked)
  const decided = (at: string): RequestException => ({ ...open, resolvedAt: at, isAccepted: true })
  const requests = [open, decided('2025-01-09T23:59:59.999Z'), decided('2025-01-10T00:00:00.000Z')]
  const counted = (now: string) => countRequests(requests, new Date(now))
  const counts = { opened: 3, open: 1, accepted: 2, declined: 0, in_time: 1 }
  expect(counted('2025-01-09T23:59:59.999Z')).toEqual({ ...counts, late: 1 })
  expect(counted('2025-01-10T00:00:00.000Z')).toEqual({ ...counts, late: 2 })
})
