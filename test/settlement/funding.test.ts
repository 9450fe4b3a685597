import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { pesewas } from '../../shared/domain/money.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import type { Batch, BatchId } from '../../shared/domain/settlement/batch.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { completeBatch } from '../../shared/settlement/complete.ts'
import { type PaymentDeps, payBatch, retryBatch } from '../../shared/settlement/pay.ts'
import { findBatch } from '../../shared/store/settlement/batches.ts'
import { findFunds, putFunding } from '../../shared/store/settlement/funding.ts'
import { gcb, still } from '../support/examples.ts'
import { granted, refused } from '../support/refused.ts'
import { useFreshTable } from '../support/tables.ts'
import { type BankBooks, bankBooks } from './bank-books.ts'
import { at, completedDebits, dayAt, newProvider, reverse } from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

/** The cash for payouts: a payout takes from it as it begins, and gives back what its bank rejects. */

useReportShelf()
beforeEach(async () => {
  await useFreshTable()
  bank = bankBooks()
  world = {
    runtime: still({ now: () => at('00:00:01', 9) }),
    connectors: { sandbox: bank.connector, http: bank.connector },
  }
})
afterEach(() => vi.unstubAllEnvs())

let bank: BankBooks
let world: PaymentDeps

const batchOf = async (amount: number): Promise<BatchId> => {
  const provider = await newProvider({ account: '1041001001' })
  await completedDebits(provider, [amount], at('09:00:00'))
  const runtime = still({ now: () => at('00:00:01', 1) })
  const { batches } = await buildBatch({ provider, date: dayAt(1) }, runtime, () => false)
  return batches[0] as BatchId
}

const fund = (amount: number) =>
  putFunding(
    {
      bank: gcb.identifier,
      reference: `R-${amount}`,
      amount: pesewas(amount),
      date: dayAt(2),
      recordedAt: at('09:00:00', 2),
      recordedBy: 'local:ama',
    },
    still(),
    [],
  )

const statusOf = async (id: BatchId): Promise<Batch['status'] | undefined> =>
  (await findBatch(id))?.status

describe('where payouts do not wait', () => {
  test('a payout takes its cash, also below zero', async () => {
    const batch = await batchOf(100_00)
    await fund(30_00)
    expect(granted(await payBatch(batch, world)).status).toBe('completed')
    expect(await findFunds()).toBe(-70_00)
  })

  test('a payout that its bank rejects gives its cash back, and its retry takes it again', async () => {
    const batch = await batchOf(100_00)
    bank.conducts.push('reject')
    expect(granted(await payBatch(batch, world)).status).toBe('failed')
    expect(await findFunds()).toBe(0)
    expect(granted(await retryBatch(batch, world)).status).toBe('completed')
    expect(await findFunds()).toBe(-100_00)
  })

  test('a payout that is instructed again takes its cash once', async () => {
    const batch = await batchOf(100_00)
    bank.conducts.push('pay unheard')
    await expect(payBatch(batch, world)).rejects.toThrow('is lost')
    expect(await findFunds()).toBe(-100_00)
    expect(granted(await payBatch(batch, world)).status).toBe('completed')
    expect(await findFunds()).toBe(-100_00)
  })
})

describe('where payouts wait for funding', () => {
  beforeEach(() => vi.stubEnv('PAYOUTS_WAIT_FOR_FUNDING', 'true'))

  test('a payout that the cash does not cover stays pending: 5001', async () => {
    const batch = await batchOf(100_00)
    expect(refused(await payBatch(batch, world)).code).toBe('400/5001')
    await fund(99_99)
    const refusal = await payBatch(batch, world)
    expect(refusal instanceof Refusal && refusal.details).toBe(
      'the batch needs 100.00, and 99.99 of the remitted cash is available',
    )
    expect([await statusOf(batch), bank.instructions, await findFunds()]).toEqual([
      'pending',
      [],
      99_99,
    ])
    await fund(1)
    expect(granted(await payBatch(batch, world)).status).toBe('completed')
    expect(await findFunds()).toBe(0)
  })

  test('two payouts at once never spend the same cash', async () => {
    const batches = [await batchOf(100_00), await batchOf(90_00)]
    await fund(150_00)
    await Promise.all(batches.map((batch) => payBatch(batch, world)))
    const statuses = await Promise.all(batches.map(statusOf))
    expect(statuses.toSorted()).toEqual(['completed', 'pending'])
    expect(bank.paid.size).toBe(1)
    expect(await findFunds()).toBe(statuses[0] === 'completed' ? 50_00 : 60_00)
  })

  test('one payout that is begun twice at once takes its cash once', async () => {
    const batch = await batchOf(100_00)
    await fund(250_00)
    await Promise.all([payBatch(batch, world), payBatch(batch, world)])
    expect([await statusOf(batch), bank.paid.size, await findFunds()]).toEqual([
      'completed',
      1,
      150_00,
    ])
  })

  test('a payout that is underway keeps its cash', async () => {
    const [batch, other] = [await batchOf(100_00), await batchOf(90_00)]
    await fund(100_00)
    bank.conducts.push('take its time')
    expect(granted(await payBatch(batch, world)).status).toBe('processing')
    expect(refused(await payBatch(other, world)).code).toBe('400/5001')
    expect(granted(await payBatch(batch, world)).status).toBe('completed')
    expect(await findFunds()).toBe(0)
  })

  test('a payout that an operator records takes its cash once, whatever is left', async () => {
    const [begun, unsent] = [await batchOf(100_00), await batchOf(90_00)]
    await fund(100_00)
    bank.conducts.push('take its time')
    expect(granted(await payBatch(begun, world)).status).toBe('processing')
    for (const batch of [begun, unsent]) {
      const completed = await completeBatch(batch, 'B-1', world.runtime, () => [])
      expect(granted(completed).status).toBe('completed')
    }
    expect(await findFunds()).toBe(-90_00)
  })

  test('a batch whose net makes others good needs cash for the rest of it alone', async () => {
    const provider = await newProvider({ account: '1041001001' })
    const [first] = await completedDebits(provider, [100_00], at('09:00:00'))
    const build = async (day: number) => {
      const runtime = still({ now: () => at('00:00:01', day) })
      const { batches } = await buildBatch({ provider, date: dayAt(day) }, runtime, () => false)
      return batches[0] as BatchId
    }
    const paid = await build(1)
    await fund(100_00)
    await payBatch(paid, world)
    await reverse(first?.facts.reference as never, at('12:00:00', 1))
    await build(2)
    await completedDebits(provider, [120_00], at('09:00:00', 2))
    const next = await build(3)
    await fund(20_00)
    expect(granted(await payBatch(next, world))).toMatchObject({ status: 'completed', paid: 20_00 })
    expect(await findFunds()).toBe(0)
  })
})
