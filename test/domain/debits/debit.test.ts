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

test('a debit is shown as it stood at each of its events', () => {
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

test('the customer is known from the event that named it', () => {
  const nobody = { customerName: null, accountNumber: null }
  const customer = { customerName: 'Ama Mensah', accountNumber: '1234567890' }
  expect(stateAt(completed, 1)).toMatchObject(nobody)
  expect(stateAt(completed, 2)).toMatchObject(customer)
  expect(stateAt(completed)).toMatchObject(customer)
})

test('a debit is shown as it stands unless an event is named', () => {
  expect(stateAt(failed)).toEqual(stateAt(failed, 3))
  expect(stateAt(failed)).toMatchObject({
    status: 'failed',
    errorMessage: 'Insufficient funds',
    errorCode: 'insufficient_funds',
  })
})

test('what was shown of an event does not change with later events', () => {
  expect([0, 1, 2].map((n) => stateAt(reversed, n))).toEqual(
    [0, 1, 2].map((n) => stateAt(processing, n)),
  )
})

describe('merged metadata', () => {
  const hostile: Record<string, unknown> = JSON.parse('{"__proto__":{"admin":true},"a":1}')

  test('never reaches a prototype', () => {
    const result = merged([{ b: 2 }, hostile])
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype)
    expect(result.admin).toBeUndefined()
    expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false)
  })

  test('never reaches a prototype by way of a move', () => {
    const after = moved(processing, 'completed', '10:01:00.000', { metadata: hostile })
    const { metadata } = stateAt(after)
    expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype)
    expect(metadata.admin).toBeUndefined()
  })

  test('takes the later of two values, key by key at the top level', () => {
    const layers = [{ a: { x: 1, y: 2 }, b: 1 }, { a: { x: 3 } }, {}]
    expect(merged(layers)).toEqual({ a: { x: 3 }, b: 1 })
  })
})

describe('a move', () => {
  const cause = { at: at('10:05:00.000'), by: 'job:expire-debit', requestId: 'req-3' }

  test('adds one event and counts one version', () => {
    const after = moved(opened, 'failed', '10:05:00.000', {})
    expect([after.version, after.status, after.history.length]).toEqual([2, 'failed', 3])
    expect(after.history.slice(0, 2)).toEqual(opened.history)
    expect(opened.history).toHaveLength(2)
  })

  test('to the status that is there gives the very same debit', () => {
    expect(advance(failed, { ...cause, to: 'failed', changes: {} })).toBe(failed)
  })

  test('that the lifecycle does not know is 422/3001', () => {
    expect(refused(advance(opened, { ...cause, to: 'reversed', changes: {} }))).toEqual({
      code: '422/3001',
      details: { status: ['cannot transition from pending to reversed'] },
    })
  })
})

const examples = { pending: opened, processing, completed, failed, reversed }
const phases: Phase[] = ['approval', 'processing']

test('approval has five minutes from processed_at, the bank ten from created_at, while open', () => {
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

test('a deadline is exact to the millisecond, and a sandbox may divide the clocks', () => {
  expect(deadline(processing, 'approval', clocks(1))).toEqual(at('10:05:01.500'))
  expect(deadline(processing, 'approval', clocks(30))).toEqual(at('10:00:11.500'))
  expect(deadline(processing, 'processing', clocks(30))).toEqual(at('10:00:20.000'))
})

describe('a debit whose clock ran out', () => {
  const cause = { at: at('10:10:00.000'), by: 'job:expire-debit', requestId: 'r' }

  test.each([
    ['approval', 'Transaction timeout'],
    ['processing', 'Bank processing timeout'],
  ] as const)('%s: fails with code timeout and %s', (phase, errorMessage) => {
    const expired = timeOut(processing, phase, cause) as Debit
    expect(stateAt(expired)).toMatchObject({ status: 'failed', errorCode: 'timeout', errorMessage })
  })

  test('does not fail when the bank was first: 3001', () => {
    expect(refused(timeOut(completed, 'processing', cause)).code).toBe('422/3001')
  })
})

describe('an approval', () => {
  const cause = { at: at('10:01:00.000'), by: 'bank:GCB', requestId: 'r' }
  const approved = approve(processing, cause) as Debit

  test('stops the five-minute clock, lets the ten-minute clock go on, and is no event', () => {
    expect(deadline(approved, 'approval', clocks(1))).toBeUndefined()
    expect(deadline(approved, 'processing', clocks(1))).toEqual(
      deadline(processing, 'processing', clocks(1)),
    )
    expect(approved.history).toEqual(processing.history)
    expect(approved.version).toBe(processing.version + 1)
  })

  test('is taken once, and may come before the debit is on record as processing', () => {
    expect(approve(approved, { ...cause, requestId: 's' })).toBe(approved)
    expect(approve(opened, cause)).toMatchObject({ status: 'pending', approval: cause })
  })

  test.each([completed, failed, reversed])('comes too late for what is over: 3001', (debit) => {
    expect(refused(approve(debit, cause))).toEqual({
      code: '422/3001',
      details: { status: [`cannot transition from ${debit.status} to approved`] },
    })
  })
})

test('a history does not run backwards, whatever the clocks of two hosts say', () => {
  const early = { at: new Date(0), by: 'bank:GCB', requestId: 'r' }
  const next = advance(processing, { ...early, to: 'completed', changes: {} }) as Debit
  expect(stateAt(next).completedAt).toEqual(stateAt(processing).processedAt)
})
