import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Refusal } from '../../shared/domain/refusal.ts'
import type { Batch, BatchId } from '../../shared/domain/settlement/batch.ts'
import { completeBatch } from '../../shared/settlement/complete.ts'
import { type PaymentDeps, payBatch, retryBatch } from '../../shared/settlement/pay.ts'
import { findBatch, findBatches } from '../../shared/store/settlement/batches.ts'
import { findFunds } from '../../shared/store/settlement/funding.ts'
import { refused } from '../support/refused.ts'
import { useFreshTable } from '../support/tables.ts'
import { type FakeBank, fakeBank } from './fake-bank.ts'
import {
  at,
  builtBatch,
  completedDebit,
  fund,
  newProvider,
  reverse,
  runtimeAt,
} from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

useReportShelf()
beforeEach(async () => {
  await useFreshTable()
  bank = fakeBank()
  deps = { runtime: runtimeAt('00:00:01', 9), connectors: bank.connectors }
})
afterEach(() => vi.unstubAllEnvs())

let bank: FakeBank
let deps: PaymentDeps

const batchOf = async (amount: number): Promise<BatchId> => {
  const provider = await newProvider({ account: '1041001001' })
  await completedDebit(provider, amount, at('09:00:00'))
  return (await builtBatch(provider)).id
}

const remit = (amount: number) => fund(amount, at('09:00:00', 2))

/** Returns the status or the code of the refusal, and the remaining cash. */
const outcomeOf = async (result: Batch | Refusal) => [
  result instanceof Refusal ? refused(result).code : result.status,
  await findFunds(),
]
const pay = async (id: BatchId) => outcomeOf(await payBatch(id, deps))
const retry = async (id: BatchId) => outcomeOf(await retryBatch(id, deps))

describe('cash, if payouts do not wait for funding', () => {
  test('a payout takes its cash even below zero, a rejection returns it, and a retry takes it again', async () => {
    const batch = await batchOf(100_00)
    await remit(30_00)
    bank.behaviours.push('reject')
    expect(await pay(batch)).toEqual(['failed', 30_00])
    expect(await retry(batch)).toEqual(['completed', -70_00])
  })
})

describe('cash, if payouts wait for funding', () => {
  beforeEach(() => vi.stubEnv('PAYOUTS_WAIT_FOR_FUNDING', 'true'))

  test('a payout that the cash does not cover stays pending with 5001', async () => {
    const batch = await batchOf(100_00)
    expect(await pay(batch)).toEqual(['400/5001', 0])
    await remit(99_99)
    expect(await payBatch(batch, deps)).toMatchObject({
      code: 5001,
      details: 'the batch needs 100.00, and 99.99 of the remitted cash is available',
    })
    expect(bank.requests).toEqual([])
    expect(await findBatch(batch)).toMatchObject({ status: 'pending' })
    await remit(1)
    expect(await pay(batch)).toEqual(['completed', 0])
  })

  test('two concurrent payouts never spend the same cash, and two workers take it once', async () => {
    const batches = [await batchOf(100_00), await batchOf(90_00)]
    await remit(150_00)
    await Promise.all([...batches, ...batches].map(pay))
    const statuses = (await findBatches(batches)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual(['completed', 'pending'])
    expect(bank.paid.size).toBe(1)
    expect(await findFunds()).toBe(statuses[0] === 'completed' ? 50_00 : 60_00)
  })

  test('a payout that an operator records takes its cash once, even below zero', async () => {
    const [begun, unsent] = [await batchOf(100_00), await batchOf(90_00)]
    await remit(100_00)
    bank.behaviours.push('pay later')
    expect(await pay(begun)).toEqual(['processing', 0])
    const record = async (id: BatchId) =>
      outcomeOf(await completeBatch(id, 'B-1', () => [], deps.runtime))
    expect(await record(begun)).toEqual(['completed', 0])
    expect(await record(unsent)).toEqual(['completed', -90_00])
  })

  test('a batch that offsets others needs cash only for the rest of its net', async () => {
    const provider = await newProvider({ account: '1041001001' })
    const { facts } = await completedDebit(provider, 100_00, at('09:00:00'))
    const paid = await builtBatch(provider, 1)
    await remit(100_00)
    await pay(paid.id)
    await reverse(facts.reference, at('12:00:00', 1))
    await builtBatch(provider, 2)
    await completedDebit(provider, 120_00, at('09:00:00', 2))
    const next = await builtBatch(provider, 3)
    await remit(20_00)
    expect(await pay(next.id)).toEqual(['completed', 0])
  })
})
