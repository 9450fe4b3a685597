import { beforeAll, describe, expect, test } from 'vitest'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import type { Batch, BatchId } from '../../shared/domain/settlement/batch.ts'
import { real } from '../../shared/runtime.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { type PaymentDeps, payBatch, retryBatch } from '../../shared/settlement/pay.ts'
import { changeBank } from '../../shared/store/banks/banks.ts'
import { changeProvider, findProvider } from '../../shared/store/providers/providers.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { findBatch, findBatches, listPayable } from '../../shared/store/settlement/batches.ts'
import { gcb, still } from '../support/examples.ts'
import { granted, refused } from '../support/refused.ts'
import { useFreshTable } from '../support/tables.ts'
import { type BankBooks, bankBooks, strangeInstructions } from './bank-books.ts'
import { accounts, complaintsOf } from './invariants.ts'
import { at, completedDebits, dayAt, newProvider, reverse } from './one-provider.ts'
import { readBooks } from './raw-items.ts'
import { useReportShelf } from './report-shelf.ts'

/** Each batch is paid once, on the day after it was built, and what is below zero is made good. */

beforeAll(useFreshTable)
useReportShelf()

type Payer = { provider: ProviderId; bank: BankBooks; world: PaymentDeps }

const ACCOUNT = '1041001001'

const newPayer = async (account: string | undefined = ACCOUNT): Promise<Payer> => {
  const bank = bankBooks()
  const connectors = { sandbox: bank.connector, http: bank.connector }
  const world = { runtime: still({ now: () => at('00:00:01', 9) }), connectors }
  return { provider: await newProvider({ account }), bank, world }
}

/** The batch of what was completed, and what was reversed, on the day that many days later. */
const batchOf = async (
  { provider }: Payer,
  daysLater: number,
  { amounts = [], back = [] }: { amounts?: number[]; back?: Batch[] },
): Promise<Batch> => {
  await completedDebits(provider, amounts, at('09:00:00', daysLater))
  for (const batch of back) await reverseAll(batch, daysLater)
  const runtime = still({ now: () => at('00:00:01', daysLater + 1) })
  const built = await buildBatch({ provider, date: dayAt(daysLater + 1) }, runtime, () => false)
  const [batch, ...others] = await findBatches(built.batches)
  if (!batch || others.length > 0) throw new Error('Not one batch')
  return batch
}

const reverseAll = async ({ id, provider }: Batch, daysLater: number): Promise<void> => {
  const { debits } = await readBooks([provider])
  for (const { settledIn, reference } of debits) {
    if (settledIn === id) await reverse(reference as never, at('12:00:00', daysLater))
  }
}

const now = async ({ id }: Batch): Promise<Batch> => {
  const batch = await findBatch(id)
  if (!batch) throw new Error(`No batch ${id}`)
  return batch
}

const pay = ({ id }: Batch, { world }: Payer) => payBatch(id, world)

/** The books are in order, and what the bank paid is this. */
const expectPaid = async ({ provider, bank }: Payer, amounts: number[]): Promise<void> => {
  const books = await readBooks([provider])
  expect(complaintsOf(books)).toEqual([])
  expect(strangeInstructions(bank)).toEqual([])
  expect([...bank.paid.values()].map(({ amount }) => Number(amount))).toEqual(amounts)
  const { net, paid, outstanding, unpaid } = accounts(books)
  expect(net).toBe(paid + outstanding + unpaid)
}

describe('a batch', () => {
  test('is due on the day after it was built, and not before', async () => {
    const payer = await newPayer()
    const { id } = await batchOf(payer, 0, { amounts: [100_00] })
    expect(await listPayable(at('23:59:59.999', 1))).not.toContain(id)
    expect(await listPayable(at('00:00:00', 2))).toContain(id)
  })

  test('is paid, and processed again: 409/5005', async () => {
    const payer = await newPayer()
    const batch = await batchOf(payer, 0, { amounts: [100_00, 50_00] })
    const paid = granted(await pay(batch, payer))
    expect(paid).toMatchObject({ status: 'completed', paid: 150_00, bankReference: /./ })
    expect(paid).toEqual(await now(batch))
    expect(refused(await pay(batch, payer)).code).toBe('409/5005')
    expect(refused(await retryBatch(batch.id, payer.world)).code).toBe('409/5005')
    expect(await now(batch)).toEqual(paid)
    expect(await listPayable(at('00:00:00', 9))).not.toContain(batch.id)
    await expectPaid(payer, [150_00])
  })

  test('that does not exist: 404/5404', async () => {
    const { world } = await newPayer()
    const id = 'STL-20261123-NOBODY' as BatchId
    expect(refused(await payBatch(id, world)).code).toBe('404/5404')
    expect(refused(await retryBatch(id, world)).code).toBe('404/5404')
  })

  test('that is being built: 400/5001', async () => {
    const payer = await newPayer()
    const { provider, world } = payer
    await completedDebits(provider, [100_00], at('09:00:00'))
    const built = await buildBatch({ provider, date: dayAt(1) }, world.runtime, () => true)
    expect(built.isDone).toBe(false)
    const [id] = built.batches as [BatchId]
    expect(refused(await payBatch(id, world)).code).toBe('400/5001')
    expect(payer.bank.instructions).toEqual([])
  })

  test('that is underway is asked for again, and is paid', async () => {
    const payer = await newPayer()
    const batch = await batchOf(payer, 0, { amounts: [100_00] })
    payer.bank.conducts.push('take its time')
    expect(granted(await pay(batch, payer))).toMatchObject({ status: 'processing' })
    expect(granted(await pay(batch, payer))).toMatchObject({ status: 'completed' })
    expect(payer.bank.instructions.map(({ repeated }) => repeated)).toEqual([false, true])
    await expectPaid(payer, [100_00])
  })

  test.each(['pay unheard', 'hear nothing'] as const)(
    'whose bank will %s is asked for again under its uuid, and paid once',
    async (conduct) => {
      const payer = await newPayer()
      const batch = await batchOf(payer, 0, { amounts: [100_00] })
      payer.bank.conducts.push(conduct)
      await expect(pay(batch, payer)).rejects.toThrow('lost')
      expect(await now(batch)).toMatchObject({ status: 'processing', paid: 100_00 })
      expect(granted(await pay(batch, payer))).toMatchObject({ status: 'completed' })
      await expectPaid(payer, [100_00])
    },
  )

  test('goes on to the account that it was begun with, whatever account is set later', async () => {
    const payer = await newPayer()
    const batch = await batchOf(payer, 0, { amounts: [100_00] })
    payer.bank.conducts.push('take its time')
    await pay(batch, payer)
    const provider = await findProvider(payer.provider)
    if (!provider?.settlementAccount) throw new Error('No account')
    const settlementAccount = { ...provider.settlementAccount, accountNumber: '1041002002' }
    const payoutsHeldUntil = at('00:00:01', 10).toISOString()
    await changeProvider(
      provider.id,
      () => ({ ...provider, settlementAccount, payoutsHeldUntil }),
      noWrites,
      real,
    )
    await pay(batch, payer)
    const told = payer.bank.instructions.map(({ account }) => account.accountNumber)
    expect(told).toEqual([ACCOUNT, ACCOUNT])
    await expectPaid(payer, [100_00])
  })

  test('that two workers pay at once is paid once', async () => {
    for (const conducts of [[], ['take its time'], ['reject']] as const) {
      const payer = await newPayer()
      const batch = await batchOf(payer, 0, { amounts: [100_00] })
      payer.bank.conducts.push(...conducts)
      const all = await Promise.all([pay(batch, payer), pay(batch, payer), pay(batch, payer)])
      const codes = all.map((one) => (one instanceof Refusal ? one.code : one.status))
      const end = conducts[0] === 'reject' ? 'failed' : 'completed'
      expect(codes).toContain(end)
      expect(codes.every((code) => [end, 'processing', 5005].includes(code))).toBe(true)
      expect(await now(batch)).toMatchObject({ status: end })
      await expectPaid(payer, end === 'failed' ? [] : [100_00])
    }
  })
})

describe('a batch that is rejected', () => {
  test('is failed, and is paid under another uuid when it is tried again', async () => {
    const payer = await newPayer()
    const batch = await batchOf(payer, 0, { amounts: [100_00] })
    payer.bank.conducts.push('reject')
    const failed = granted(await pay(batch, payer))
    expect(failed).toMatchObject({ status: 'failed', failure: 'No such account' })
    expect(refused(await pay(batch, payer)).code).toBe('409/5005')
    expect(await listPayable(at('00:00:00', 9))).not.toContain(batch.id)
    await expectPaid(payer, [])
    const paid = granted(await retryBatch(batch.id, payer.world))
    expect(paid).toMatchObject({ status: 'completed', failure: null, failedAt: null })
    expect(paid.uuid).not.toBe(failed.uuid)
    await expectPaid(payer, [100_00])
  })

  test('and is tried again by two at once is paid once', async () => {
    const payer = await newPayer()
    const batch = await batchOf(payer, 0, { amounts: [100_00] })
    payer.bank.conducts.push('reject')
    await pay(batch, payer)
    const again = () => retryBatch(batch.id, payer.world)
    await Promise.all([again(), again(), again()])
    expect(await now(batch)).toMatchObject({ status: 'completed' })
    await expectPaid(payer, [100_00])
  })

  test('leaves to others what it was to make good', async () => {
    const payer = await newPayer()
    const first = await batchOf(payer, 0, { amounts: [40_00] })
    await pay(first, payer)
    const below = await batchOf(payer, 1, { back: [first] })
    const third = await batchOf(payer, 2, { amounts: [100_00] })
    const fourth = await batchOf(payer, 3, { amounts: [70_00] })
    payer.bank.conducts.push('reject')
    expect(granted(await pay(third, payer))).toMatchObject({ status: 'failed', paid: 60_00 })
    expect(await now(below)).toMatchObject({ status: 'pending', outstanding: -40_00 })
    expect(granted(await pay(fourth, payer))).toMatchObject({ paid: 30_00 })
    expect(await now(below)).toMatchObject({ status: 'completed', offsetBy: fourth.id })
    expect(granted(await retryBatch(third.id, payer.world))).toMatchObject({ paid: 100_00 })
    await expectPaid(payer, [40_00, 30_00, 100_00])
  })

  test('takes back its own part alone of what several made good', async () => {
    const payer = await newPayer()
    const first = await batchOf(payer, 0, { amounts: [100_00] })
    await pay(first, payer)
    const below = await batchOf(payer, 1, { back: [first] })
    const third = await batchOf(payer, 2, { amounts: [30_00] })
    const fourth = await batchOf(payer, 3, { amounts: [90_00] })
    await pay(third, payer)
    payer.bank.conducts.push('take its time to reject')
    expect(granted(await pay(fourth, payer))).toMatchObject({ status: 'processing', paid: 20_00 })
    // All is promised, and not yet paid.
    expect(await now(below)).toMatchObject({ status: 'pending', outstanding: 0 })
    expect(granted(await pay(fourth, payer))).toMatchObject({ status: 'failed' })
    expect(await now(below)).toMatchObject({ status: 'pending', outstanding: -70_00 })
    await expectPaid(payer, [100_00])
    expect(granted(await retryBatch(fourth.id, payer.world))).toMatchObject({ paid: 20_00 })
    expect(await now(below)).toMatchObject({ status: 'completed', offsetBy: fourth.id })
    await expectPaid(payer, [100_00, 20_00])
  })
})

describe('nothing is paid out, and the batch is at its end', () => {
  test('when its net is zero', async () => {
    const payer = await newPayer()
    const first = await batchOf(payer, 0, { amounts: [40_00] })
    await pay(first, payer)
    const zero = await batchOf(payer, 1, { amounts: [40_00], back: [first] })
    expect(zero.totals).toMatchObject({ count: 2, gross: 40_00, adjustments: -40_00, net: 0 })
    expect(granted(await pay(zero, payer))).toMatchObject({ status: 'completed', paid: 0 })
    expect(refused(await pay(zero, payer)).code).toBe('409/5005')
    await expectPaid(payer, [40_00])
  })

  test('when all of it makes others good', async () => {
    const payer = await newPayer()
    const first = await batchOf(payer, 0, { amounts: [100_00] })
    await pay(first, payer)
    const below = await batchOf(payer, 1, { back: [first] })
    const third = await batchOf(payer, 2, { amounts: [30_00] })
    expect(granted(await pay(third, payer))).toMatchObject({ status: 'completed', paid: 0 })
    expect(await now(below)).toMatchObject({ status: 'pending', outstanding: -70_00 })
    await expectPaid(payer, [100_00])
  })
})

describe('a batch below zero', () => {
  test('waits: 400/5001, and does not hold up the list of those to be paid', async () => {
    const payer = await newPayer()
    const first = await batchOf(payer, 0, { amounts: [100_00] })
    const below = await batchOf(payer, 1, { back: [first] })
    expect(below).toMatchObject({ outstanding: -100_00, totals: { net: -100_00 } })
    expect(refused(await pay(below, payer)).code).toBe('400/5001')
    expect(await listPayable(at('00:00:00', 9))).not.toContain(below.id)
    // One that was opened before does not make it good.
    expect(granted(await pay(first, payer))).toMatchObject({ paid: 100_00 })
    await expectPaid(payer, [100_00])
  })

  test('is made good by as many later ones as it takes, and several by one', async () => {
    const payer = await newPayer()
    const first = await batchOf(payer, 0, { amounts: [100_00] })
    const second = await batchOf(payer, 1, { amounts: [20_00] })
    await pay(first, payer)
    await pay(second, payer)
    const one = await batchOf(payer, 2, { back: [first] })
    const other = await batchOf(payer, 3, { back: [second] })
    const later = []
    for (const [n, amount] of [30_00, 60_00, 50_00].entries()) {
      later.push(await batchOf(payer, 4 + n, { amounts: [amount] }))
    }
    for (const batch of later) await pay(batch, payer)
    const paid = await Promise.all(later.map(now))
    expect(paid.map((batch) => [batch.status, batch.paid, batch.offsets])).toEqual([
      ['completed', 0, [{ batch: one.id, amount: 30_00 }]],
      ['completed', 0, [{ batch: one.id, amount: 60_00 }]],
      [
        'completed',
        20_00,
        [
          { batch: one.id, amount: 10_00 },
          { batch: other.id, amount: 20_00 },
        ],
      ],
    ])
    const end = { status: 'completed', outstanding: 0, offsetBy: paid[2]?.id }
    expect(await now(one)).toMatchObject(end)
    expect(await now(other)).toMatchObject(end)
    await expectPaid(payer, [100_00, 20_00, 20_00])
  })

  test('is made good once by two that are paid at once', async () => {
    const payer = await newPayer()
    const first = await batchOf(payer, 0, { amounts: [100_00] })
    await pay(first, payer)
    await batchOf(payer, 1, { back: [first] })
    const later = [
      await batchOf(payer, 2, { amounts: [90_00] }),
      await batchOf(payer, 3, { amounts: [80_00] }),
    ]
    await Promise.all(later.flatMap((batch) => [pay(batch, payer), pay(batch, payer)]))
    const books = await readBooks([payer.provider])
    expect(complaintsOf(books)).toEqual([])
    expect(accounts(books)).toEqual({ net: 170_00n, paid: 170_00n, outstanding: 0n, unpaid: 0n })
  })
})

describe('a provider whose settlement account changed', () => {
  const heldUntil = at('09:30:00', 9)
  const hold = async ({ provider }: Payer): Promise<void> => {
    const changed = await findProvider(provider)
    const payoutsHeldUntil = heldUntil.toISOString()
    if (changed)
      await changeProvider(provider, () => ({ ...changed, payoutsHeldUntil }), noWrites, real)
  }
  const held = {
    code: '400/5001',
    details: `the settlement account changed: payouts are held until ${heldUntil.toISOString()}`,
  }
  const payAt = (batch: Batch, { world }: Payer, time: Date) =>
    payBatch(batch.id, { ...world, runtime: still({ now: () => time }) })

  test('is paid when the hold is over, by a later run', async () => {
    const payer = await newPayer()
    const batch = await batchOf(payer, 0, { amounts: [100_00] })
    await hold(payer)
    expect(refused(await pay(batch, payer))).toEqual(held)
    expect(refused(await payAt(batch, payer, at('09:29:59.999', 9)))).toEqual(held)
    expect(await now(batch)).toMatchObject({ status: 'pending' })
    await expectPaid(payer, [])
    expect(await listPayable(at('00:00:00', 10))).toContain(batch.id)
    expect(granted(await payAt(batch, payer, heldUntil))).toMatchObject({ status: 'completed' })
    await expectPaid(payer, [100_00])
  })

  test('is paid after the hold what an operator retried before its end', async () => {
    const payer = await newPayer()
    const batch = await batchOf(payer, 0, { amounts: [100_00] })
    payer.bank.conducts.push('reject')
    await pay(batch, payer)
    await hold(payer)
    expect(refused(await retryBatch(batch.id, payer.world))).toEqual(held)
    expect(await listPayable(at('00:00:00', 10))).toContain(batch.id)
    expect(granted(await payAt(batch, payer, heldUntil))).toMatchObject({ status: 'completed' })
    await expectPaid(payer, [100_00])
  })
})

describe('a provider that cannot be paid: 400/5001, until it can', () => {
  test('as it has no account', async () => {
    const payer = await newPayer('')
    const batch = await batchOf(payer, 0, { amounts: [100_00] })
    expect(refused(await pay(batch, payer))).toEqual({
      code: '400/5001',
      details: 'the provider has no settlement account',
    })
    expect(await listPayable(at('00:00:00', 9))).toContain(batch.id)
    const provider = await findProvider(payer.provider)
    const settlementAccount = { bank: gcb.identifier, accountNumber: ACCOUNT, accountName: 'P Ltd' }
    if (provider)
      await changeProvider(provider.id, () => ({ ...provider, settlementAccount }), noWrites, real)
    expect(granted(await pay(batch, payer))).toMatchObject({ status: 'completed' })
    await expectPaid(payer, [100_00])
  })

  test('as its bank has no connector', async () => {
    const payer = await newPayer()
    const batch = await batchOf(payer, 0, { amounts: [100_00] })
    await changeBank(gcb.identifier, () => ({ ...gcb, connector: 'none' }) as const, noWrites, real)
    expect(refused(await pay(batch, payer)).code).toBe('400/5001')
    await changeBank(gcb.identifier, () => gcb, noWrites, real)
    expect(granted(await pay(batch, payer))).toMatchObject({ status: 'completed' })
  })
})
