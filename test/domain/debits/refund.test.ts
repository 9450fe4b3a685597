import * as v from 'valibot'
import { expect, test } from 'vitest'
import { stateAt } from '../../../shared/domain/debits/debit.ts'
import {
  beginRefund,
  failRefund,
  newRefund,
  retryRefund,
  reversalRefund,
} from '../../../shared/domain/debits/refund.ts'
import { Uuid } from '../../../shared/domain/ids.ts'
import { amountNumber } from '../../../shared/domain/money.ts'
import { refundView } from '../../../shared/views/refund.ts'
import { failed, reversed } from './one-debit.ts'

const at = new Date('2025-01-03T00:00:00.000Z')

test('a refund has the amount, the bank and the account of its debit', () => {
  const { bankReference, accountNumber } = stateAt(reversed)
  expect(reversalRefund(reversed)).toMatchObject({
    reference: reversed.facts.reference,
    debitUuid: reversed.facts.uuid,
    amount: reversed.facts.amount,
    bank: reversed.facts.bank.identifier,
    provider: reversed.facts.provider,
    debitBankReference: bankReference,
    accountNumber,
    origin: 'reversal',
    status: 'pending',
  })
})

test('each attempt has a uuid of version 4 that is derived from the debit', () => {
  const fail = () => failRefund(beginRefund(reversalRefund(reversed), at), { failure: 'No', at })
  const first = fail()
  const second = retryRefund(first)
  const third = retryRefund(failRefund(second, { failure: 'No', at }))
  const uuids = [first, second, third].map(({ uuid }) => uuid)
  expect(new Set(uuids).size).toBe(3)
  expect(uuids.every((uuid) => v.is(Uuid, uuid))).toBe(true)
  expect(retryRefund(fail()).uuid).toBe(second.uuid)
  expect(third.failed.map(({ uuid }) => uuid)).toEqual([first.uuid, second.uuid])
})

test('only a failed refund is retried', () => {
  expect(() => retryRefund(reversalRefund(reversed))).toThrow('has not failed')
})

test('the debit’s own bank reference precedes the one of a late report', () => {
  const opening = { origin: 'late_completion', reason: 'Late', at } as const
  const late = newRefund(failed, { ...opening, debitBankReference: 'LATE-1' })
  expect(late.debitBankReference).toBe(stateAt(failed).bankReference ?? 'LATE-1')
})

test('a view shows no internals', () => {
  expect(Object.keys(refundView(reversalRefund(reversed), amountNumber))).toEqual([
    'uuid',
    'status',
    'amount',
    'currency',
    'reason',
    'bank_reference',
    'error_message',
    'created_at',
    'processed_at',
    'completed_at',
    'failed_at',
  ])
})
