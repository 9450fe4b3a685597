import * as v from 'valibot'
import { expect, test } from 'vitest'
import {
  beginRefund,
  completeRefund,
  failRefund,
  newRefund,
  retryRefund,
  reversalRefund,
} from '../../../shared/domain/debits/refund.ts'
import { Uuid } from '../../../shared/domain/ids.ts'
import { completed, opened, reversed } from './one-debit.ts'

const at = new Date('2025-01-03T00:00:00.000Z')

test('each attempt has a uuid of version 4 that is derived from the debit', () => {
  const fail = () => failRefund(beginRefund(reversalRefund(reversed), at), { failure: 'No', at })
  const second = retryRefund(fail())
  const third = retryRefund(failRefund(second, { failure: 'No', at }))
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
  expect(beginRefund(refund, early).processedAt).toEqual(createdAt)
  expect(completeRefund(refund, { bankReference: 'R', at: early }).completedAt).toEqual(createdAt)
  expect(failRefund(refund, { failure: 'No', at: early }).failedAt).toEqual(createdAt)
  const later = new Date(createdAt.getTime() + 1)
  expect(completeRefund(refund, { bankReference: 'R', at: later }).completedAt).toEqual(later)
})

test('the debit’s own bank reference precedes the one of a late report', () => {
  const late = {
    origin: 'late_completion',
    reason: 'Late',
    at,
    debitBankReference: 'LATE-1',
  } as const
  expect(newRefund(completed, late).debitBankReference).toBe('GCB-78')
  expect(newRefund(opened, late).debitBankReference).toBe('LATE-1')
})
