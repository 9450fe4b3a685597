import * as v from 'valibot'
import { expect, test } from 'vitest'
import {
  advance,
  approve,
  type Debit,
  deadline,
  mayBeSubmitted,
  merged,
  type Phase,
  stateAt,
  timeOut,
} from '../../../shared/domain/debits/debit.ts'
import {
  completeRefund,
  failRefund,
  newRefund,
  retryRefund,
  reversalRefund,
  sendRefund,
} from '../../../shared/domain/debits/refund.ts'
import { clocks } from '../../../shared/domain/debits/timeouts.ts'
import { Uuid } from '../../../shared/domain/ids.ts'
import { formatAmount } from '../../../shared/domain/money.ts'
import { refundView } from '../../../shared/views/refund.ts'
import { refused } from '../../support/refused.ts'
import { rowsOf } from '../../support/rows.ts'
import {
  at,
  completed,
  examples,
  failed,
  moved,
  opened,
  processing,
  reversed,
} from './one-debit.ts'

const timeOf = (time: Date | null | undefined): string => time?.toISOString().slice(11, 19) ?? '-'

test('each event shows the debit at that time', () => {
  const rows = rowsOf(`
    0  created     -           -       -           -    -         -         10:00:00  -           Kumasi
    1  pending     created     -       -           -    -         -         10:00:00  -           Kumasi
    2  processing  pending     GCB-77  -           -    10:00:01  -         10:00:01  Ama Mensah  Kumasi
    3  completed   processing  GCB-78  mobile_api  150  10:00:01  10:01:00  10:01:00  Ama Mensah  Accra
    4  reversed    completed   GCB-78  mobile_api  150  10:00:01  10:01:00  11:00:00  Ama Mensah  Accra
  `)
  const shown = rows.map((_, n) => {
    const { status, previousStatus, bankReference, approvalMethod, ...state } = stateAt(reversed, n)
    const { fee, processedAt, completedAt, updatedAt, customerName, metadata } = state
    const times = [processedAt, completedAt, updatedAt].map(timeOf)
    const known = [String(n), status, previousStatus, bankReference, approvalMethod, fee]
    return [...known, ...times, customerName, metadata?.branch].map((value) => String(value ?? '-'))
  })
  expect(shown).toEqual(rows)
})

test('the merged metadata takes the later value of each key and never reaches a prototype', () => {
  expect(merged([{ a: { x: 1, y: 2 }, b: 1 }, { a: { x: 3 } }, {}])).toEqual({ a: { x: 3 }, b: 1 })
  const hostile: Record<string, unknown> = JSON.parse('{"__proto__":{"admin":true},"a":1}')
  const after = moved(processing, 'completed', '10:01:00.000', { metadata: hostile })
  for (const metadata of [merged([{ b: 2 }, hostile]), stateAt(after).metadata]) {
    expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype)
    expect(metadata?.admin).toBeUndefined()
  }
  expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false)
})

const cause = { at: at('10:10:00.000'), by: 'job:expire-debit', requestId: 'req-3' }

test('a forbidden transition is 422/3001', () => {
  expect(refused(advance(opened, { ...cause, to: 'reversed', changes: {} }))).toEqual({
    code: '422/3001',
    details: { status: ['cannot transition from pending to reversed'] },
  })
})

test('an open debit times out five minutes after processed_at or ten after created_at', () => {
  const rows = rowsOf(`
    pending     -         10:10:00
    processing  10:05:01  10:10:00
    completed   -         -
    failed      -         -
    reversed    -         -
  `)
  const phases: Phase[] = ['approval', 'processing']
  const deadlines = Object.entries(examples).map(([status, debit]) => [
    status,
    ...phases.map((phase) => timeOf(deadline(debit, phase, clocks(1)))),
  ])
  expect(deadlines).toEqual(rows)
})

test('a deadline is exact to the millisecond, and a sandbox can divide it', () => {
  expect(deadline(processing, 'approval', clocks(1))).toEqual(at('10:05:01.500'))
  expect(deadline(processing, 'approval', clocks(30))).toEqual(at('10:00:11.500'))
  expect(deadline(processing, 'processing', clocks(30))).toEqual(at('10:00:20.000'))
})

test.each([
  ['approval', 'Transaction timeout'],
  ['processing', 'Bank processing timeout'],
] as const)('the %s time ends a debit with code timeout: %s', (phase, errorMessage) => {
  const expired = stateAt(timeOut(processing, phase, cause) as Debit)
  expect(expired).toMatchObject({ status: 'failed', errorCode: 'timeout', errorMessage })
  expect(refused(timeOut(completed, phase, cause)).code).toBe('422/3001')
})

test('a debit may be submitted until three minutes before its end', () => {
  const times = [at('10:06:59.999'), at('10:07:00.000')]
  expect(times.map((time) => mayBeSubmitted(opened, time, clocks(1)))).toEqual([true, false])
})

test('an approval stops the five-minute timeout only, once, and is not an event', () => {
  const approved = approve(processing, cause) as Debit
  expect(approved).toEqual({ ...processing, version: processing.version + 1, approval: cause })
  expect(deadline(approved, 'approval', clocks(1))).toBeUndefined()
  expect(deadline(approved, 'processing', clocks(1))).toEqual(at('10:10:00.000'))
  expect(approve(approved, { ...cause, requestId: 's' })).toBe(approved)
  expect(approve(opened, cause)).toMatchObject({ status: 'pending', approval: cause })
})

test.each([completed, failed, reversed])('an approval of a closed debit is 3001', (debit) => {
  expect(refused(approve(debit, cause))).toEqual({
    code: '422/3001',
    details: { status: [`cannot transition from ${debit.status} to approved`] },
  })
})

test('the times of a history never decrease, whichever clocks wrote them', () => {
  const next = advance(processing, { ...cause, at: new Date(0), to: 'completed', changes: {} })
  expect(stateAt(next as Debit).completedAt).toEqual(stateAt(processing).processedAt)
})

const nextDay = new Date('2025-01-03T00:00:00.000Z')

test('each attempt has a uuid of version 4 that is derived from the debit', () => {
  const fail = () =>
    failRefund(sendRefund(reversalRefund(reversed), nextDay), { failure: 'No', at: nextDay })
  const second = retryRefund(fail())
  const third = retryRefund(failRefund(second, { failure: 'No', at: nextDay }))
  const uuids = [fail(), second, third].map(({ uuid }) => uuid)
  expect(new Set(uuids).size).toBe(3)
  expect(uuids.every((uuid) => v.is(Uuid, uuid))).toBe(true)
  expect(retryRefund(fail())).toEqual(second)
  expect(third.failed.map(({ uuid }) => uuid)).toEqual(uuids.slice(0, 2))
  expect(() => retryRefund(second)).toThrow('has not failed')
})

test('a refund never ends before it was opened, though clocks differ around midnight', () => {
  const refund = reversalRefund(reversed)
  const { createdAt } = refund
  const early = new Date(createdAt.getTime() - 5_000)
  expect(sendRefund(refund, early).processedAt).toEqual(createdAt)
  expect(completeRefund(refund, { bankReference: 'R', at: early }).completedAt).toEqual(createdAt)
  expect(failRefund(refund, { failure: 'No', at: early }).failedAt).toEqual(createdAt)
  const later = new Date(createdAt.getTime() + 1)
  expect(completeRefund(refund, { bankReference: 'R', at: later }).completedAt).toEqual(later)
})

test('a refund that is sent again keeps the time of its first sending', () => {
  const first = sendRefund(reversalRefund(reversed), nextDay)
  const later = new Date(nextDay.getTime() + 1)
  const again = sendRefund(first, later)
  expect(again).toMatchObject({ processedAt: nextDay, sentAt: later })
  expect(refundView({ ...again, status: 'processing' }, formatAmount).processed_at).toBe(
    nextDay.toISOString(),
  )
})

test('the bank reference of a late report precedes the one of the attempt that failed', () => {
  const late = {
    origin: 'late_completion',
    reason: 'Late',
    at: nextDay,
    debitBankReference: 'LATE-1',
  } as const
  expect(newRefund(completed, late).debitBankReference).toBe('LATE-1')
  const unnamed = { ...late, debitBankReference: undefined }
  expect(newRefund(completed, unnamed).debitBankReference).toBe('GCB-78')
})
