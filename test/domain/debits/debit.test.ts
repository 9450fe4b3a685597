import { describe, expect, test } from 'vitest'
import {
  advance,
  approve,
  type Debit,
  deadline,
  merged,
  type Phase,
  stateAt,
  timeOut,
} from '../../../shared/domain/debits/debit.ts'
import { clocks } from '../../../shared/domain/debits/lifecycle.ts'
import { refused } from '../../support/refused.ts'
import { rowsOf } from '../../support/rows.ts'
import { at, completed, failed, moved, opened, processing, reversed } from './one-debit.ts'

const told = (time: Date | null | undefined): string => time?.toISOString().slice(11, 19) ?? '-'

const shown = (n: number): string[] => {
  const state = stateAt(reversed, n)
  return [
    String(n),
    state.status,
    state.previousStatus ?? '-',
    state.bankReference ?? '-',
    state.approvalMethod ?? '-',
    String(state.fee ?? '-'),
    told(state.processedAt),
    told(state.completedAt),
    told(state.updatedAt),
  ]
}

test('each event shows the debit at that time', () => {
  const rows = rowsOf(`
    0  created     -           -       -           -    -         -         10:00:00
    1  pending     created     -       -           -    -         -         10:00:00
    2  processing  pending     GCB-77  -           -    10:00:01  -         10:00:01
    3  completed   processing  GCB-78  mobile_api  150  10:00:01  10:01:00  10:01:00
    4  reversed    completed   GCB-78  mobile_api  150  10:00:01  10:01:00  11:00:00
  `)
  expect(rows.map((_, n) => shown(n))).toEqual(rows)
})

test('metadata is merged event by event', () => {
  expect([0, 2, 3, 4].map((n) => stateAt(reversed, n).metadata)).toEqual([
    { order: 1001, branch: 'Kumasi' },
    { order: 1001, branch: 'Kumasi' },
    { order: 1001, branch: 'Accra' },
    { order: 1001, branch: 'Accra', reversal_reason: 'Dispute' },
  ])
})

test('the customer is known from the event that reports it', () => {
  const nobody = { customerName: null, accountNumber: null }
  const customer = { customerName: 'Ama Mensah', accountNumber: '1234567890' }
  expect(stateAt(completed, 1)).toMatchObject(nobody)
  expect(stateAt(completed, 2)).toMatchObject(customer)
  expect(stateAt(completed)).toMatchObject(customer)
})

test('the default state is that of the last event', () => {
  expect(stateAt(failed)).toEqual(stateAt(failed, 3))
  expect(stateAt(failed)).toMatchObject({
    status: 'failed',
    errorMessage: 'Insufficient funds',
    errorCode: 'insufficient_funds',
  })
})

test('later events do not change the state at an event', () => {
  expect([0, 1, 2].map((n) => stateAt(reversed, n))).toEqual(
    [0, 1, 2].map((n) => stateAt(processing, n)),
  )
})

describe('merged metadata', () => {
  const hostile: Record<string, unknown> = JSON.parse('{"__proto__":{"admin":true},"a":1}')

  test('merged metadata never reaches a prototype', () => {
    const result = merged([{ b: 2 }, hostile])
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype)
    expect(result.admin).toBeUndefined()
    expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false)
  })

  test('metadata of a transition never reaches a prototype', () => {
    const after = moved(processing, 'completed', '10:01:00.000', { metadata: hostile })
    const { metadata } = stateAt(after)
    expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype)
    expect(metadata.admin).toBeUndefined()
  })

  test('later values win, key by key at the top level', () => {
    const layers = [{ a: { x: 1, y: 2 }, b: 1 }, { a: { x: 3 } }, {}]
    expect(merged(layers)).toEqual({ a: { x: 3 }, b: 1 })
  })
})

describe('transitions', () => {
  const cause = { at: at('10:05:00.000'), by: 'job:expire-debit', requestId: 'req-3' }

  test('a transition adds one event and one version', () => {
    const after = moved(opened, 'failed', '10:05:00.000', {})
    expect([after.version, after.status, after.history.length]).toEqual([2, 'failed', 3])
    expect(after.history.slice(0, 2)).toEqual(opened.history)
    expect(opened.history).toHaveLength(2)
  })

  test('a transition to the current status returns the same object', () => {
    expect(advance(failed, { ...cause, to: 'failed', changes: {} })).toBe(failed)
  })

  test('a forbidden transition is 422/3001', () => {
    expect(refused(advance(opened, { ...cause, to: 'reversed', changes: {} }))).toEqual({
      code: '422/3001',
      details: { status: ['cannot transition from pending to reversed'] },
    })
  })
})

const examples = { pending: opened, processing, completed, failed, reversed }
const phases: Phase[] = ['approval', 'processing']

test('an open debit times out five minutes after processed_at or ten after created_at', () => {
  const rows = rowsOf(`
    pending     -         10:10:00
    processing  10:05:01  10:10:00
    completed   -         -
    failed      -         -
    reversed    -         -
  `)
  const deadlines = Object.entries(examples).map(([status, debit]) => [
    status,
    ...phases.map((phase) => told(deadline(debit, phase, clocks(1)))),
  ])
  expect(deadlines).toEqual(rows)
})

test('a deadline is exact to the millisecond, and a sandbox can divide it', () => {
  expect(deadline(processing, 'approval', clocks(1))).toEqual(at('10:05:01.500'))
  expect(deadline(processing, 'approval', clocks(30))).toEqual(at('10:00:11.500'))
  expect(deadline(processing, 'processing', clocks(30))).toEqual(at('10:00:20.000'))
})

describe('timeouts', () => {
  const cause = { at: at('10:10:00.000'), by: 'job:expire-debit', requestId: 'r' }

  test.each([
    ['approval', 'Transaction timeout'],
    ['processing', 'Bank processing timeout'],
  ] as const)('after the %s time a debit fails with code timeout: %s', (phase, errorMessage) => {
    const expired = timeOut(processing, phase, cause) as Debit
    expect(stateAt(expired)).toMatchObject({ status: 'failed', errorCode: 'timeout', errorMessage })
  })

  test('a debit that its bank completed first does not time out: 3001', () => {
    expect(refused(timeOut(completed, 'processing', cause)).code).toBe('422/3001')
  })
})

describe('approvals', () => {
  const cause = { at: at('10:01:00.000'), by: 'bank:GCB', requestId: 'r' }
  const approved = approve(processing, cause) as Debit

  test('an approval stops the five-minute timeout only, and is not an event', () => {
    expect(deadline(approved, 'approval', clocks(1))).toBeUndefined()
    expect(deadline(approved, 'processing', clocks(1))).toEqual(
      deadline(processing, 'processing', clocks(1)),
    )
    expect(approved.history).toEqual(processing.history)
    expect(approved.version).toBe(processing.version + 1)
  })

  test('an approval is stored once, also before the debit is processing', () => {
    expect(approve(approved, { ...cause, requestId: 's' })).toBe(approved)
    expect(approve(opened, cause)).toMatchObject({ status: 'pending', approval: cause })
  })

  test.each([completed, failed, reversed])('an approval of a closed debit is 3001', (debit) => {
    expect(refused(approve(debit, cause))).toEqual({
      code: '422/3001',
      details: { status: [`cannot transition from ${debit.status} to approved`] },
    })
  })
})

test('the times of a history never decrease, whichever clocks wrote them', () => {
  const early = { at: new Date(0), by: 'bank:GCB', requestId: 'r' }
  const next = advance(processing, { ...early, to: 'completed', changes: {} }) as Debit
  expect(stateAt(next).completedAt).toEqual(stateAt(processing).processedAt)
})
