import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Refusal } from '../../shared/domain/refusal.ts'
import type { Batch, BatchId } from '../../shared/domain/settlement/batch.ts'
import { completeBatch } from '../../shared/settlement/complete.ts'
import { type PaymentDeps, payBatch, retryBatch } from '../../shared/settlement/pay.ts'
import { findBatch } from '../../shared/store/settlement/batches.ts'
import { findFunds } from '../../shared/store/settlement/funding.ts'
import { granted, refused } from '../support/refused.ts'
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

const statusOf = async (id: BatchId): Promise<Batch['status'] | undefined> =>
  (await findBatch(id))?.status

describe('cash, if payouts do not wait for funding', () => {
  test('a payout takes its cash even below zero, a rejection returns it, and a retry takes it again', async () => {
    const batch = await batchOf(100_00)
    await remit(30_00)
    bank.behaviours.push('reject')
    expect(granted(await payBatch(batch, deps)).status).toBe('failed')
    expect(await findFunds()).toBe(30_00)
    expect(granted(await retryBatch(batch, deps)).status).toBe('completed')
    expect(await findFunds()).toBe(-70_00)
  })

  test('a payout that is sent twice takes its cash once', async () => {
    const batch = await batchOf(100_00)
    bank.behaviours.push('pay without reply')
    await expect(payBatch(batch, deps)).rejects.toThrow('is lost')
    expect(await findFunds()).toBe(-100_00)
    expect(granted(await payBatch(batch, deps)).status).toBe('completed')
    expect(await findFunds()).toBe(-100_00)
  })
})

describe('cash, if payouts wait for funding', () => {
  beforeEach(() => vi.stubEnv('PAYOUTS_WAIT_FOR_FUNDING', 'true'))

  test('a payout that the cash does not cover stays pending with 5001', async () => {
    const batch = await batchOf(100_00)
    expect(refused(await payBatch(batch, deps)).code).toBe('400/5001')
    await remit(99_99)
    const refusal = await payBatch(batch, deps)
    expect(refusal instanceof Refusal && refusal.details).toBe(
      'the batch needs 100.00, and 99.99 of the remitted cash is available',
    )
    expect(bank.requests).toEqual([])
    expect([await statusOf(batch), await findFunds()]).toEqual(['pending', 99_99])
    await remit(1)
    expect(granted(await payBatch(batch, deps)).status).toBe('completed')
    expect(await findFunds()).toBe(0)
  })

  test('two concurrent payouts never spend the same cash', async () => {
    const batches = [await batchOf(100_00), await batchOf(90_00)]
    await remit(150_00)
    await Promise.all(batches.map((batch) => payBatch(batch, deps)))
    const statuses = await Promise.all(batches.map(statusOf))
    expect(statuses.toSorted()).toEqual(['completed', 'pending'])
    expect(bank.paid.size).toBe(1)
    expect(await findFunds()).toBe(statuses[0] === 'completed' ? 50_00 : 60_00)
  })

  test('a payout that two workers begin at once takes its cash once', async () => {
    const batch = await batchOf(100_00)
    await remit(250_00)
    await Promise.all([payBatch(batch, deps), payBatch(batch, deps)])
    expect(bank.paid.size).toBe(1)
    expect([await statusOf(batch), await findFunds()]).toEqual(['completed', 150_00])
  })

  test('a payout in progress keeps its cash', async () => {
    const [batch, other] = [await batchOf(100_00), await batchOf(90_00)]
    await remit(100_00)
    bank.behaviours.push('pay later')
    expect(granted(await payBatch(batch, deps)).status).toBe('processing')
    expect(refused(await payBatch(other, deps)).code).toBe('400/5001')
    expect(granted(await payBatch(batch, deps)).status).toBe('completed')
    expect(await findFunds()).toBe(0)
  })

  test('a payout that an operator records takes its cash once, even below zero', async () => {
    const [begun, unsent] = [await batchOf(100_00), await batchOf(90_00)]
    await remit(100_00)
    bank.behaviours.push('pay later')
    expect(granted(await payBatch(begun, deps)).status).toBe('processing')
    for (const batch of [begun, unsent]) {
      const completed = await completeBatch(batch, 'B-1', () => [], deps.runtime)
      expect(granted(completed).status).toBe('completed')
    }
    expect(await findFunds()).toBe(-90_00)
  })

  test('a batch that offsets others needs cash only for the rest of its net', async () => {
    const provider = await newProvider({ account: '1041001001' })
    const { facts } = await completedDebit(provider, 100_00, at('09:00:00'))
    const paid = await builtBatch(provider, 1)
    await remit(100_00)
    await payBatch(paid.id, deps)
    await reverse(facts.reference, at('12:00:00', 1))
    await builtBatch(provider, 2)
    await completedDebit(provider, 120_00, at('09:00:00', 2))
    const next = await builtBatch(provider, 3)
    await remit(20_00)
    expect(granted(await payBatch(next.id, deps))).toMatchObject({
      status: 'completed',
      paid: 20_00,
    })
    expect(await findFunds()).toBe(0)
  })
})
