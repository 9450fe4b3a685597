import { beforeAll, describe, expect, test } from 'vitest'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Batch, BatchId } from '../../shared/domain/settlement/batch.ts'
import { type PaymentDeps, payBatch, retryBatch } from '../../shared/settlement/pay.ts'
import { findBatch, listPayable } from '../../shared/store/settlement/batches.ts'
import { gcb, still } from '../support/examples.ts'
import { granted, refused } from '../support/refused.ts'
import { useFreshTable } from '../support/tables.ts'
import { type FakeBank, fakeBank, type PayoutBehaviour } from './fake-bank.ts'
import {
  accountAt,
  at,
  builtBatch,
  completedDebits,
  newProvider,
  reverse,
  runtimeAt,
  updateProvider,
} from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

beforeAll(useFreshTable)
useReportShelf()

type Payer = { provider: ProviderId; bank: FakeBank; deps: PaymentDeps }

const ACCOUNT = '1041001001'

const newPayer = async (account: string | undefined = ACCOUNT): Promise<Payer> => {
  const bank = fakeBank()
  const deps = { runtime: runtimeAt('00:00:01', 9), connectors: bank.connectors }
  return { provider: await newProvider({ account }), bank, deps }
}

type BatchPlan = { amounts: number[]; reversed: Batch[] }

/** The debits that are settled in each batch. */
const debitsOf = new Map<BatchId, Debit[]>()

/** Builds the batch of a day with completed debits, and with reversals of other batches' debits. */
const batchOf = async (
  { provider }: Payer,
  day = 0,
  { amounts = [], reversed = [] }: Partial<BatchPlan> = { amounts: [100_00] },
): Promise<Batch> => {
  const debits = await completedDebits(provider, amounts, at('09:00:00', day))
  for (const { facts } of reversed.flatMap(({ id }) => debitsOf.get(id) ?? [])) {
    await reverse(facts.reference, at('12:00:00', day))
  }
  const batch = await builtBatch(provider, day + 1)
  debitsOf.set(batch.id, debits)
  return batch
}

/** Returns a payer with a batch of 100.00, and the behaviours of its bank. */
const payerWithBatch = async (...behaviours: PayoutBehaviour[]) => {
  const payer = await newPayer()
  payer.bank.behaviours.push(...behaviours)
  return { payer, batch: await batchOf(payer) }
}

/** The setting of many tests: a paid batch whose debits are reversed on the next day. */
const paidAndReversed = async (payer: Payer, amount: number) => {
  const paid = await batchOf(payer, 0, { amounts: [amount] })
  await pay(paid, payer)
  return batchOf(payer, 1, { reversed: [paid] })
}

const reload = async ({ id }: Batch): Promise<Batch> => (await findBatch(id)) as Batch

const pay = ({ id }: Batch, { deps }: Payer) => payBatch(id, deps)

/** Checks the amounts that the bank has paid. */
const expectPaid = ({ bank }: Payer, amounts: number[]): void =>
  expect([...bank.paid.values()]).toEqual(amounts)

describe('the payout of a batch', () => {
  test('is due on the day after the build', async () => {
    const { id } = (await payerWithBatch()).batch
    expect(await listPayable(at('23:59:59.999', 1))).not.toContain(id)
    expect(await listPayable(at('00:00:00', 2))).toContain(id)
  })

  test('goes to the account of its first request, also after a change of the account', async () => {
    const { payer, batch } = await payerWithBatch('pay later')
    await pay(batch, payer)
    const settlementAccount = accountAt(gcb, '1041002002')
    const payoutsHeldUntil = at('00:00:01', 10).toISOString()
    await updateProvider(payer.provider, { settlementAccount, payoutsHeldUntil })
    await pay(batch, payer)
    const accounts = payer.bank.requests.map(({ account }) => account.accountNumber)
    expect(accounts).toEqual([ACCOUNT, ACCOUNT])
    expectPaid(payer, [100_00])
  })
})

describe('a rejected payout', () => {
  test('leaves its offsets to other batches', async () => {
    const payer = await newPayer()
    const below = await paidAndReversed(payer, 40_00)
    const third = await batchOf(payer, 2, { amounts: [100_00] })
    const fourth = await batchOf(payer, 3, { amounts: [70_00] })
    payer.bank.behaviours.push('reject')
    const noOffsets = { status: 'failed', paid: 60_00, offsets: [] }
    expect(granted(await pay(third, payer))).toMatchObject(noOffsets)
    expect(await reload(below)).toMatchObject({ status: 'pending', outstanding: -40_00 })
    expect(granted(await pay(fourth, payer))).toMatchObject({ paid: 30_00 })
    expect(await reload(below)).toMatchObject({ status: 'completed', offsetBy: fourth.id })
    expect(granted(await retryBatch(third.id, payer.deps))).toMatchObject({ paid: 100_00 })
    expectPaid(payer, [40_00, 30_00, 100_00])
  })

  test('takes back only its own part of a shared offset', async () => {
    const payer = await newPayer()
    const below = await paidAndReversed(payer, 100_00)
    const third = await batchOf(payer, 2, { amounts: [30_00] })
    const fourth = await batchOf(payer, 3, { amounts: [90_00] })
    await pay(third, payer)
    payer.bank.behaviours.push('reject later')
    expect(granted(await pay(fourth, payer))).toMatchObject({ status: 'processing', paid: 20_00 })
    expect(await reload(below)).toMatchObject({ status: 'pending', outstanding: 0 })
    expect(granted(await pay(fourth, payer))).toMatchObject({ status: 'failed' })
    expect(await reload(below)).toMatchObject({ status: 'pending', outstanding: -70_00 })
    expectPaid(payer, [100_00])
    expect(granted(await retryBatch(fourth.id, payer.deps))).toMatchObject({ paid: 20_00 })
    expect(await reload(below)).toMatchObject({ status: 'completed', offsetBy: fourth.id })
    expectPaid(payer, [100_00, 20_00])
  })
})

test('a batch is completed at once if its net is zero', async () => {
  const payer = await newPayer()
  const first = await batchOf(payer, 0, { amounts: [40_00] })
  await pay(first, payer)
  const zero = await batchOf(payer, 1, { amounts: [40_00], reversed: [first] })
  expect(zero.totals).toMatchObject({ count: 2, gross: 40_00, adjustments: -40_00, net: 0 })
  expect(granted(await pay(zero, payer))).toMatchObject({ status: 'completed', paid: 0 })
  expect(refused(await pay(zero, payer)).code).toBe('409/5005')
  expectPaid(payer, [40_00])
})

describe('a batch below zero', () => {
  test('is not payable (400/5001) and is not in the list of due batches', async () => {
    const { payer, batch: first } = await payerWithBatch()
    const below = await batchOf(payer, 1, { reversed: [first] })
    expect(below).toMatchObject({ outstanding: -100_00, totals: { net: -100_00 } })
    expect(refused(await pay(below, payer)).code).toBe('400/5001')
    expect(await listPayable(at('00:00:00', 9))).not.toContain(below.id)
    // An earlier batch does not offset it.
    expect(granted(await pay(first, payer))).toMatchObject({ paid: 100_00 })
    expectPaid(payer, [100_00])
  })

  test('is offset by several later batches, and one of them offsets two', async () => {
    const { payer, batch: first } = await payerWithBatch()
    const second = await batchOf(payer, 1, { amounts: [20_00] })
    await pay(first, payer)
    await pay(second, payer)
    const one = await batchOf(payer, 2, { reversed: [first] })
    const other = await batchOf(payer, 3, { reversed: [second] })
    const later = []
    for (const [n, amount] of [30_00, 60_00, 50_00].entries()) {
      later.push(await batchOf(payer, 4 + n, { amounts: [amount] }))
    }
    for (const batch of later) await pay(batch, payer)
    const paid = await Promise.all(later.map(reload))
    const ofOne = { batch: one.id, amount: 10_00 }
    const ofOther = { batch: other.id, amount: 20_00 }
    expect(paid.map((batch) => [batch.status, batch.paid, batch.offsets])).toEqual([
      ['completed', 0, [{ batch: one.id, amount: 30_00 }]],
      ['completed', 0, [{ batch: one.id, amount: 60_00 }]],
      ['completed', 20_00, [ofOne, ofOther]],
    ])
    const end = { status: 'completed', outstanding: 0, offsetBy: paid[2]?.id }
    expect(await reload(one)).toMatchObject(end)
    expect(await reload(other)).toMatchObject(end)
    expectPaid(payer, [100_00, 20_00, 20_00])
  })
})

test('payouts after a change of the settlement account, and their retries, are made after the hold', async () => {
  const heldUntil = at('09:30:00', 9)
  const payoutsHeldUntil = heldUntil.toISOString()
  const details = `the settlement account changed: payouts are held until ${payoutsHeldUntil}`
  const held = { code: '400/5001', details }
  const { payer, batch } = await payerWithBatch('reject')
  const payAt = (time: Date) =>
    payBatch(batch.id, { ...payer.deps, runtime: still({ now: () => time }) })
  await pay(batch, payer)
  await updateProvider(payer.provider, { payoutsHeldUntil })
  expect(refused(await retryBatch(batch.id, payer.deps))).toEqual(held)
  expect(refused(await payAt(at('09:29:59.999', 9)))).toEqual(held)
  expect(await reload(batch)).toMatchObject({ status: 'pending' })
  expectPaid(payer, [])
  expect(await listPayable(at('00:00:00', 10))).toContain(batch.id)
  expect(granted(await payAt(heldUntil))).toMatchObject({ status: 'completed' })
  expectPaid(payer, [100_00])
})
