import { beforeEach, describe, expect, test, vi } from 'vitest'
import { processBatch } from '../../functions/jobs/process-batch.ts'
import { manageProvider } from '../../functions/operator/manage-provider.ts'
import { ConnectorFault, type PaymentConnector } from '../../shared/banks/connector.ts'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { BatchId } from '../../shared/domain/ids.ts'
import { type Pesewas, pesewas } from '../../shared/domain/money.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { type Batch, noTotals } from '../../shared/domain/settlement/batch.ts'
import type { Funding } from '../../shared/domain/settlement/funding.ts'
import { openWith } from '../../shared/operator/open-with.ts'
import { completeBatch, findRecordable } from '../../shared/settlement/complete.ts'
import { findRetry } from '../../shared/settlement/due.ts'
import { failBatch } from '../../shared/settlement/fail.ts'
import { payBatch, retryBatch } from '../../shared/settlement/pay.ts'
import { keys } from '../../shared/store/keys.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { findBatch, listUnpaid } from '../../shared/store/settlement/batches.ts'
import { correctFunding, findFunding, findFunds } from '../../shared/store/settlement/funding.ts'
import { isNew, put, putWrite, read } from '../../shared/store/table.ts'
import { batchView } from '../../shared/views/batch.ts'
import { gcb } from '../support/examples.ts'
import { captureOutput } from '../support/output.ts'
import { granted, refused } from '../support/refused.ts'
import { storeBank, storeRestore } from '../support/settings.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable, useTable } from '../support/tables.ts'
import { type FakeBank, fakeBank, type PayoutBehaviour } from './fake-bank.ts'
import { take } from './messages-sent.ts'
import {
  at,
  builtBatch,
  completedDebit,
  fund,
  newProvider,
  reverse,
  runtimeAt,
  updateProvider,
} from './one-provider.ts'
import { batch as sealedBatch } from './report/one-batch.ts'
import { useReportShelf } from './report-shelf.ts'

process.env.METRICS_DISABLED = 'false'

const { clear, lines, metrics } = captureOutput()
useReportShelf()

let provider: ProviderId
let bank: FakeBank
beforeEach(async () => {
  clear()
  await useFreshTable()
  provider = await newProvider({ account: '1041001001' })
  bank = fakeBank()
})

const depsAt = (time: string) => ({ runtime: runtimeAt(time, 9), connectors: bank.connectors })
const deps = () => depsAt('00:00:01')

/** Builds the batch of a day with a completed debit of this amount. */
const batchOf = async (amount: number, day = 0, owner = provider): Promise<Batch> => {
  await completedDebit(owner, amount, at('09:00:00', day))
  return builtBatch(owner, day + 1)
}

/** Pays a batch for each amount, reverses its debit later, and returns the batches below zero. */
const belowZero = async (...amounts: number[]): Promise<Batch[]> => {
  const debits: Debit[] = []
  for (const [day, amount] of amounts.entries()) {
    debits.push(await completedDebit(provider, amount, at('09:00:00', day)))
    await pay(await builtBatch(provider, day + 1))
  }
  const batches: Batch[] = []
  for (const [n, { facts }] of debits.entries()) {
    await reverse(facts.reference, at('12:00:00', debits.length + n))
    batches.push(await builtBatch(provider, debits.length + n + 1))
  }
  return batches
}

/** Stores earlier batches with a net of -1.00 each. */
const owe = async (count: number): Promise<void> => {
  const totals = { ...noTotals, count: 1, adjustments: pesewas(-1_00), net: pesewas(-1_00) }
  const negative = { provider, totals, outstanding: pesewas(-1_00), reportedAt: at('00:00:03') }
  for (let n = 0; n < count; n += 1) {
    const id = `STL-20261101-${String(n).padStart(6, '0')}` as BatchId
    await put(keys.batch(id), 'batch', toBatchItem(sealedBatch({ ...negative, id, n })))
  }
}

const pay = async ({ id }: Batch) => granted(await payBatch(id, deps()))
const retry = async ({ id }: Batch) => granted(await retryBatch(id, noWrites, deps()))
const reload = async ({ id }: Pick<Batch, 'id'>): Promise<Batch> => (await findBatch(id)) as Batch
type Payout = { bankReference: string; amount?: Pesewas; bank?: BankIdentifier | null }
const suspend = (batch: Batch) => updateProvider(batch.provider, { status: 'suspended' })
/** Records a payout that an operator knows of. */
const complete = ({ id }: Batch, payout: Partial<Payout> = {}, alongside = noWrites) =>
  completeBatch(id, { bankReference: 'B-1', ...payout }, alongside, deps().runtime)
const paidAmounts = () => [...bank.paid.values()]

test('a payout waits (400/5001) for a connector of its bank', async () => {
  const batch = await batchOf(100_00)
  await storeBank({ ...gcb, connector: 'none' })
  const details = 'no connector to the bank GCB'
  expect(refused(await payBatch(batch.id, deps()))).toEqual({ code: '400/5001', details })
  await storeBank(gcb)
  expect(await pay(batch)).toMatchObject({ status: 'completed' })
})

test('a paid batch is not listed as unpaid while the index lags', async () => {
  let lag = 0
  useTable({ indexLag: () => lag })
  provider = await newProvider({ account: '1041001001' })
  const batch = await batchOf(100_00)
  expect(await listUnpaid(provider)).toMatchObject([{ id: batch.id }])
  lag = 60_000
  await pay(batch)
  expect(await listUnpaid(provider)).toEqual([])
})

test('a sealed batch waits (400/5001) for its reports', async () => {
  const { id } = await batchOf(100_00)
  await put(keys.batch(id), 'batch', toBatchItem({ ...(await reload({ id })), reportedAt: null }))
  const details = 'the batch is being built'
  expect(refused(await payBatch(id, deps()))).toEqual({ code: '400/5001', details })
})

test('a batch that cannot be paid, a rejected payout and a payout are measured', async () => {
  const batch = await batchOf(100_00)
  await storeBank({ ...gcb, connector: 'none' })
  await take(processBatch(runtimeAt('00:00:01', 9)), 'payments', { batch: batch.id })
  await storeBank(gcb)
  bank.behaviours.push('reject')
  await pay(batch)
  await retry(batch)
  expect(metrics()).toEqual([
    { SettlementNotPaid: 1 },
    { SettlementFailed: 1 },
    { SettlementPaid: 1 },
  ])
})

test('a payout that a restore may have undone is a repeat, so that its bank is queried first', async () => {
  const [before, after] = [await batchOf(100_00), await newProvider({ account: '1041001002' })]
  const begunAt = at('00:00:00', 9)
  await storeRestore(2, { begunAt, releasedAt: begunAt })
  await pay(before)
  await pay(await batchOf(20_00, 1, after))
  expect(bank.requests.map(({ repeated }) => repeated)).toEqual([true, false])
})

test('a payout that its bank made with other offsets before a restore waits for the batch that took them', async () => {
  await belowZero(50_00)
  const [first, other] = [await batchOf(60_00, 2), await batchOf(100_00, 3)]
  const made = new Map<string, number>([
    [first.uuid, 10_00],
    [other.uuid, 100_00],
  ])
  let fault: ConnectorFault | undefined
  const query: PaymentConnector['query'] = async ({ uuid, amount }) => {
    if (fault) throw fault
    if (made.get(uuid) !== amount) throw new ConnectorFault(2002, 'another amount')
    return { kind: 'paid', bankReference: 'B-1' }
  }
  const connectors = { ...bank.connectors, sandbox: { ...bank.connectors.sandbox, query } }
  const payMade = ({ id }: Batch) => payBatch(id, { ...deps(), connectors })
  const begunAt = at('00:00:00', 9)
  await storeRestore(2, { begunAt, releasedAt: begunAt })
  const details = `GCB has not made the payout ${other.uuid} with 50.00: pay first the batch that took the debts before the restore`
  expect(refused(await payMade(other))).toEqual({ code: '400/5001', details })
  fault = new ConnectorFault(2408, 'no reply')
  await expect(payMade(other)).rejects.toBe(fault)
  fault = undefined
  expect(await reload(other)).toMatchObject({ status: 'pending', offsets: [] })
  for (const batch of [first, other]) {
    const paid = { status: 'completed', paid: made.get(batch.uuid) }
    expect(granted(await payMade(batch))).toMatchObject(paid)
  }
})

test('a retry that a restore holds leaves the batch failed', async () => {
  const batch = await batchOf(100_00)
  bank.behaviours.push('reject')
  await pay(batch)
  await storeRestore(2)
  expect(refused(await retryBatch(batch.id, noWrites, deps())).details).toContain('are held')
  expect(await reload(batch)).toMatchObject({ status: 'failed', attempt: 1 })
})

test('a batch is completed at once if its net is zero', async () => {
  const { facts } = await completedDebit(provider, 40_00, at('09:00:00'))
  await pay(await builtBatch(provider, 1))
  await reverse(facts.reference, at('12:00:00', 1))
  const zero = await batchOf(40_00, 1)
  expect(zero.totals).toMatchObject({ count: 2, gross: 40_00, adjustments: -40_00, net: 0 })
  expect(refused(await complete(zero)).code).toBe('400/5001')
  expect(await pay(zero)).toMatchObject({ status: 'completed', paid: 0 })
  expect(refused(await payBatch(zero.id, deps())).code).toBe('409/5005')
  expect(paidAmounts()).toEqual([40_00])
})

test('a batch below zero is offset by several later batches, and one of them offsets two', async () => {
  const [one, other] = (await belowZero(100_00, 20_00)) as [Batch, Batch]
  const later: Batch[] = []
  for (const [n, amount] of [30_00, 60_00, 50_00].entries()) {
    later.push(await batchOf(amount, 4 + n))
  }
  await suspend(one)
  const taken = 'nothing is due: it has no payout'
  expect(refused(await complete(later[0] as Batch)).details).toBe(taken)
  await updateProvider(provider, { status: 'active' })
  for (const batch of later) await pay(batch)
  const paid = await Promise.all(later.map(reload))
  const ofOne = { batch: one.id, amount: 10_00 }
  const ofOther = { batch: other.id, amount: 20_00 }
  expect(paid.map((batch) => [batch.status, batch.paid, batch.offsets])).toEqual([
    ['completed', 0, [{ batch: one.id, amount: 30_00 }]],
    ['completed', 0, [{ batch: one.id, amount: 60_00 }]],
    ['completed', 20_00, [ofOne, ofOther]],
  ])
  expect(paid.map((batch) => batchView(batch).paid)).toEqual(['0.00', '0.00', '20.00'])
  const end = { status: 'completed', outstanding: 0, offsetBy: paid[2]?.id }
  for (const batch of [one, other]) expect(await reload(batch)).toMatchObject(end)
  expect(paidAmounts()).toEqual([100_00, 20_00, 20_00])
})

test('a disabled provider’s batches end if debts take their net, and the next one is due with the rest', async () => {
  const [below] = (await belowZero(100_00)) as [Batch]
  const taken = [await batchOf(30_00, 2), await batchOf(40_00, 3)]
  const next = await batchOf(50_00, 4)
  await suspend(below)
  const reasons = async () =>
    (await openWith(provider, at('12:00:00', 9))).map(({ reason }) => reason)
  const owes = 'the provider owes 100.00'
  const due = 'the payout of 20.00 is not made'
  const none = 'the payout of 0.00 is not made'
  expect(await reasons()).toEqual([owes, none, none, due])
  for (const { id } of taken) {
    await take(processBatch(runtimeAt('00:00:01', 9)), 'payments', { batch: id })
    expect(await findBatch(id)).toMatchObject({ status: 'completed', paid: 0 })
  }
  expect(await reasons()).toEqual(['the provider owes 30.00', due])
  expect(refused(await payBatch(next.id, deps())).details).toContain('is disabled')
  const amount = pesewas(20_00)
  expect(granted(await complete(next, { amount }))).toMatchObject({ paid: amount })
  expect(await reload(below)).toMatchObject({ status: 'completed', offsetBy: next.id })
})

test('the transfer of a provider ends its batch below zero and adds its cash, and a later batch keeps its net', async () => {
  const [below] = (await belowZero(100_00)) as [Batch]
  await pay(await batchOf(30_00, 2))
  const record = (amount?: number) =>
    complete(below, amount === undefined ? {} : { amount: pesewas(amount) })
  expect(refused(await record()).details).toBe('70.00 is due: --amount states what was paid')
  expect(refused(await record(100_00)).details).toContain('100.00 was paid, but 70.00 is due')
  const ofBank = await complete(below, { amount: pesewas(70_00), bank: null })
  expect(refused(ofBank).details).toBe('no bank pays a batch below zero')
  const before = await findFunds()
  const transfer = { paid: -70_00, paidTo: null, outstanding: 0, offsetBy: null }
  const ended = { status: 'completed', bankReference: 'B-1', ...transfer }
  expect(granted(await record(70_00))).toMatchObject(ended)
  expect(await findFunds()).toBe(before + 70_00)
  expect(refused(await record(70_00)).code).toBe('409/5005')
  expect(await pay(await batchOf(90_00, 3))).toMatchObject({ paid: 90_00, offsets: [] })
})

test('a transfer is recorded for what a rejected payout leaves outstanding, not while that is in progress', async () => {
  const [below] = (await belowZero(100_00)) as [Batch]
  const later = await batchOf(120_00, 2)
  bank.behaviours.push('reject later')
  await pay(later)
  const amount = pesewas(100_00)
  expect(refused(await complete(below, { amount })).details).toContain('a payout in progress')
  expect(await pay(later)).toMatchObject({ status: 'failed' })
  const another = await batchOf(30_00, 3)
  beforeTheNextWrite(() => pay(another))
  expect(refused(await complete(below, { amount })).details).toContain('but 70.00 is due')
  expect(granted(await complete(below, { amount: pesewas(70_00) })).paid).toBe(-70_00)
  expect(await retry(later)).toMatchObject({ status: 'completed', paid: 120_00 })
})

test('a failed payout is named after the pending ones that take debts before it', async () => {
  const [below] = (await belowZero(100_00)) as [Batch]
  const failed = await batchOf(150_00, 2)
  bank.behaviours.push('reject')
  await pay(failed)
  const pending = await batchOf(90_00, 3)
  const open = await openWith(provider, at('12:00:00', 9))
  expect(open.map(({ subject, reason }) => [subject, reason])).toEqual([
    [below.id, 'the provider owes 100.00'],
    [pending.id, 'the payout of 0.00 is not made'],
    [failed.id, 'the payout of 50.00 failed, 140.00 is due: No such account'],
  ])
})

test('a payout offsets as many batches as fit into its transaction, and later ones the others', async () => {
  await owe(101)
  const [first, second] = [await batchOf(200_00), await batchOf(200_00, 1)]
  expect((await pay(first)).offsets).toHaveLength(96)
  expect((await pay(second)).offsets).toHaveLength(5)
  expect(paidAmounts()).toEqual([104_00, 195_00])
})

test('a batch below zero is offset again by the part of a payout that the bank rejects', async () => {
  const [below] = (await belowZero(100_00)) as [Batch]
  const [third, fourth] = [await batchOf(30_00, 2), await batchOf(90_00, 3)]
  await pay(third)
  bank.behaviours.push('reject later')
  expect(await pay(fourth)).toMatchObject({ status: 'processing', paid: 20_00 })
  expect(await reload(below)).toMatchObject({ status: 'pending', outstanding: 0 })
  expect(await pay(fourth)).toMatchObject({ status: 'failed', offsets: [] })
  expect(await reload(below)).toMatchObject({ status: 'pending', outstanding: -70_00 })
  expect(await retry(fourth)).toMatchObject({ paid: 20_00 })
  expect(await reload(below)).toMatchObject({ status: 'completed', offsetBy: fourth.id })
  expect(paidAmounts()).toEqual([100_00, 20_00])
})

/** Does some work before the next transaction of a payout, which then begins again. */
const beforeTheNextWrite = (work: () => Promise<unknown>): void => {
  let isOvertaken = false
  aroundTableCalls(async (name, next) => {
    if (name === 'TransactWrite' && !isOvertaken) {
      isOvertaken = true
      await work()
    }
    return next()
  })
}

test('a retry begins again if another payout takes the offsets at once', async () => {
  await belowZero(100_00)
  const [rejected, later] = [await batchOf(150_00, 2), await batchOf(300_00, 3)]
  bank.behaviours.push('reject')
  await pay(rejected)
  beforeTheNextWrite(() => pay(later))
  expect(await retry(rejected)).toMatchObject({ status: 'completed', paid: 150_00 })
  expect(await reload(later)).toMatchObject({ status: 'completed', paid: 200_00 })
})

test('a payment by hand is not recorded if a retry begins before its write', async () => {
  const batch = await batchOf(100_00)
  bank.behaviours.push('reject')
  await pay(batch)
  beforeTheNextWrite(() => retry(batch))
  bank.behaviours.push('pay later')
  expect(refused(await complete(batch)).details).toContain('a payout has begun since')
  expect(await reload(batch)).toMatchObject({ status: 'processing', attempt: 2 })
})

test('a payout that begins again after another one took its offsets is still recorded for its operator', async () => {
  await belowZero(100_00)
  const [first, later] = [await batchOf(150_00, 2), await batchOf(300_00, 3)]
  beforeTheNextWrite(() => pay(later))
  const record = { pk: 'CHANGES', sk: 'a-change' }
  const recordChange = () => [putWrite({ ...record, entity: 'change' }, isNew)]
  const paid = granted(await payBatch(first.id, deps(), { recordChange }))
  expect(paid).toMatchObject({ status: 'completed', paid: 150_00 })
  expect(await read(record)).toBeDefined()
})

const underway: PaymentConnector['pay'] = async () => ({ kind: 'underway' })
const underwayAt = (time: string) => ({
  ...depsAt(time),
  connectors: { sandbox: { pay: underway }, http: { pay: underway } },
})

const made = () => [putWrite({ pk: 'APPROVAL#1', sk: 'APPROVAL', entity: 'approval' }, isNew)]
test.each<[string, PayoutBehaviour, (id: BatchId) => Promise<Batch | Refusal>]>([
  ['retry', 'reject', (id) => retryBatch(id, made, deps())],
  ['repeat', 'pay later', (id) => payBatch(id, underwayAt('00:05:00'), { recordChange: made })],
  [
    'failure of a payout, retried since,',
    'pay later',
    async (id) => {
      const result = await failBatch(id, 'Not paid', made, runtimeAt('00:05:00', 9))
      await retryBatch(id, noWrites, deps())
      return result
    },
  ],
])('a granted %s that another worker has made is not made again', async (_, behaviour, call) => {
  const batch = await batchOf(150_00)
  bank.behaviours.push(behaviour, behaviour)
  await pay(batch)
  granted(await call(batch.id))
  const stored = await reload(batch)
  expect(refused(await call(batch.id)).details).toBe(
    'the call was already made: its reply was lost',
  )
  expect(await reload(batch)).toEqual(stored)
})

test('a rejected payout is recorded only with the amount that is due since other batches took its offsets', async () => {
  await belowZero(100_00)
  const [rejected, later] = [await batchOf(150_00, 2), await batchOf(300_00, 3)]
  bank.behaviours.push('reject')
  expect(await pay(rejected)).toMatchObject({ status: 'failed', paid: 50_00 })
  expect(await pay(later)).toMatchObject({ status: 'completed', paid: 200_00 })
  const record = (amount?: number) =>
    complete(rejected, amount === undefined ? {} : { amount: pesewas(amount) })
  const next =
    'but 150.00 is due: settle the difference of 100.00 first, then record what is due by --amount'
  // The bank paid 50.00 despite its rejection, or the operator did not state another amount.
  for (const amount of [undefined, 50_00]) {
    const act = amount ? 'paid' : 'sent'
    const details = `50.00 was ${act}, ${next}`
    expect(refused(await record(amount))).toEqual({ code: '400/5001', details })
  }
  let paid = 50_00
  const query: PaymentConnector['query'] = async ({ amount }) =>
    amount === paid ? { kind: 'paid', bankReference: 'B-1' } : { kind: 'underway' }
  const sandbox = { ...bank.connectors.sandbox, query }
  const withPaid = { ...deps(), connectors: { ...bank.connectors, sandbox } }
  expect(refused(await retryBatch(rejected.id, noWrites, withPaid)).details).toBe(
    `GCB has paid the rejected payout ${rejected.uuid} of 50.00, ${next}`,
  )
  expect(await reload(rejected)).toMatchObject({ status: 'failed', paid: 50_00 })
  const [open] = await openWith(provider, at('12:00:00', 9))
  expect(open?.reason).toBe('the payout of 50.00 failed, 150.00 is due: No such account')
  // A further payout of another amount, which the bank rejects too.
  bank.behaviours.push('reject')
  expect(await retry(rejected)).toMatchObject({ status: 'failed', paid: 150_00 })
  paid = 150_00
  const one = refused(await retryBatch(rejected.id, noWrites, withPaid)).details
  expect(one).toContain('of 150.00: settlement complete records it')
  const details = '50.00 was sent, 150.00 was sent, 150.00 is due: --amount states what was paid'
  expect(refused(await record())).toEqual({ code: '400/5001', details })
  expect(granted(await record(150_00))).toMatchObject({ status: 'completed', paid: 150_00 })
})

test('a rejected payout that was paid is recorded at its own bank, or at that of the account since', async () => {
  const batch = await batchOf(100_00)
  bank.behaviours.push('reject')
  await pay(batch)
  const later = { bank: gcb.identifier, accountNumber: '1041009999', accountName: 'Payee Ltd' }
  await updateProvider(provider, { settlementAccount: later })
  const old = granted(await findRecordable(batch.id, {}, new Date())).begun.batch
  expect(old.paidTo?.accountNumber).toBe('1041001001')
  const eco = 'ECO' as BankIdentifier
  const settlementAccount = { bank: eco, accountNumber: '2441007001', accountName: 'Payee Ltd' }
  await updateProvider(provider, { settlementAccount })
  const details = 'the account was at ECO and GCB: --bank names the one that paid'
  expect(refused(await complete(batch))).toEqual({ code: '400/5001', details })
  const cal = 'CAL' as BankIdentifier
  expect(refused(await complete(batch, { bank: cal })).details).toBe('no bank CAL')
  const [sent, current] = await Promise.all(
    [gcb.identifier, eco].map((one) => findRecordable(batch.id, { bank: one }, new Date())),
  )
  expect([sent, current].map((one) => granted(one)?.begun.batch.paidTo?.bank)).toEqual([
    'GCB',
    'ECO',
  ])
  await updateProvider(provider, { settlementAccount: undefined })
  const recordable = await findRecordable(batch.id, {}, new Date())
  expect(granted(recordable).begun.batch.paidTo?.bank).toBe('GCB')
  const none = 'the provider has no settlement account'
  expect(refused(await findRetry(batch.id, new Date())).details).toBe(none)
  await updateProvider(provider, { settlementAccount })
  await storeBank({ ...gcb, identifier: eco })
  // A bank without a connector cannot be queried.
  await storeBank({ ...gcb, connector: 'none' })
  bank.behaviours.push('reject')
  expect(await retry(batch)).toMatchObject({ status: 'failed', paidTo: settlementAccount })
  expect(refused(await complete(batch))).toEqual({ code: '400/5001', details })
  const completed = granted(await complete(batch, { bank: gcb.identifier }))
  expect(completed.paidTo?.accountNumber).toBe('1041001001')
})

test('the payout of a pending batch is recorded only while the service does not pay it by itself', async () => {
  const batch = await batchOf(100_00)
  const amount = pesewas(100_00)
  const record = async () => {
    const recordable = await findRecordable(batch.id, { amount }, at('12:00:00', 9))
    return recordable instanceof Refusal ? refused(recordable).details : 'recordable'
  }
  const details =
    'the service would pay this batch too: hold it by operator provider disable, then record it'
  const payoutsHeldUntil = at('13:00:00', 9).toISOString()
  expect(await record()).toBe(details)
  await updateProvider(provider, { payoutsHeldUntil })
  expect(await record()).toBe(details)
  await suspend(batch)
  expect(await record()).toBe('recordable')
  await updateProvider(provider, { status: 'active' })
  await storeBank({ ...gcb, connector: 'none' })
  expect(await record()).toBe('recordable')
  await storeBank(gcb)
  await storeRestore(2)
  expect(await record()).toBe('recordable')
})

test('a payout in progress that an operator records keeps its amount and its offsets', async () => {
  await belowZero(100_00)
  const { facts } = await completedDebit(provider, 120_00, at('09:00:00', 2))
  const batch = await builtBatch(provider, 3)
  bank.behaviours.push('pay later')
  const { offsets } = await pay(batch)
  await reverse(facts.reference, at('12:00:00', 3))
  const other = await builtBatch(provider, 4)
  const elsewhere = await complete(batch, { bank: 'ECO' as BankIdentifier })
  expect(refused(elsewhere).details).toBe('the payout is in progress at GCB')
  await complete(batch)
  expect(await reload(batch)).toMatchObject({ status: 'completed', paid: 20_00, offsets })
  expect(await reload(other)).toMatchObject({ status: 'pending', outstanding: -120_00 })
})

const fail = ({ id }: Batch, time: string) =>
  failBatch(id, 'Not paid, by telephone', noWrites, runtimeAt(time, 9))
/** Pays a batch, and does some work before the bank receives its first payout. */
const payDuring = async ({ id }: Batch, time: string, work: () => Promise<unknown>) => {
  let isFirst = true
  const pay: typeof bank.connectors.sandbox.pay = async (payout) => {
    if (isFirst) {
      isFirst = false
      await work()
    }
    return bank.connectors.sandbox.pay(payout)
  }
  return payBatch(id, { ...depsAt(time), connectors: { sandbox: { pay }, http: { pay } } })
}

test('a payout is failed only a minute after it was last sent, because a worker may be sending it', async () => {
  const batch = await batchOf(100_00)
  const details = 'a worker may be sending the payout: try again in a minute'
  const failsDuring = (time: string) => async () =>
    expect(refused(await fail(batch, time))).toEqual({ code: '400/5001', details })
  bank.behaviours.push('pay later')
  await payDuring(batch, '00:00:01', failsDuring('00:01:00'))
  // Another worker repeats the payout before the write of its failure.
  beforeTheNextWrite(() => payBatch(batch.id, underwayAt('00:03:00')))
  await failsDuring('00:03:00')()
  expect(granted(await payDuring(batch, '00:05:00', failsDuring('00:05:59.999')))).toMatchObject({
    status: 'completed',
  })
})

test('a retried payout is failed only a minute after it was sent, however long ago the rejected one was', async () => {
  const batch = await batchOf(100_00)
  bank.behaviours.push('reject', 'pay later')
  await pay(batch)
  granted(await retryBatch(batch.id, noWrites, depsAt('00:05:00')))
  expect(refused(await fail(batch, '00:05:59.999')).details).toContain('try again in a minute')
  expect(granted(await fail(batch, '00:06:00'))).toMatchObject({ status: 'failed' })
})

test('a payout that an operator fails returns its offsets, and one without a time of sending may be in flight', async () => {
  const [below] = (await belowZero(100_00)) as [Batch]
  const batch = await batchOf(120_00, 2)
  bank.behaviours.push('pay later')
  expect(await pay(batch)).toMatchObject({ paid: 20_00, offsets: [{ amount: 100_00 }] })
  // An earlier version did not store the time of sending.
  const stored = toBatchItem({ ...(await reload(batch)), sentAt: undefined })
  await put(keys.batch(batch.id), 'batch', stored)
  expect(refused(await fail(batch, '00:01:00')).details).toContain('try again in a minute')
  expect(granted(await fail(batch, '00:01:01'))).toMatchObject({ status: 'failed', offsets: [] })
  expect(await reload(below)).toMatchObject({ status: 'pending', outstanding: -100_00 })
  expect(await retry(batch)).toMatchObject({ status: 'completed', paid: 20_00 })
})

test('a worker that read a payout before it was failed and retried does not send it again', async () => {
  const batch = await batchOf(100_00)
  bank.behaviours.push('pay later')
  await pay(batch)
  beforeTheNextWrite(async () => {
    granted(await fail(batch, '00:01:01'))
    await retry(batch)
  })
  expect(refused(await payBatch(batch.id, depsAt('00:05:00'))).code).toBe('409/5005')
  const { uuid } = await reload(batch)
  expect(bank.requests.map((one) => one.uuid)).toEqual([batch.uuid, uuid])
})

test('a worker records the reply about a payout that another worker has begun to send again', async () => {
  const batch = await batchOf(100_00)
  bank.behaviours.push('pay later')
  await pay(batch)
  const others = () => payBatch(batch.id, underwayAt('00:05:00'))
  const paid = granted(await payDuring(batch, '00:05:00', others))
  expect(paid).toMatchObject({ status: 'completed', sentAt: at('00:05:00', 9) })
  expect(batchView(paid).processed_at).toBe(paid.processedAt?.toISOString())
  expect(bank.requests).toHaveLength(2)
})

test.each([
  ['failed', () => undefined],
  ['failed and retried', retry],
])(
  'a reply that a bank has paid is an error in the log if an operator has %s the payout since',
  async (_, next) => {
    const batch = await batchOf(120_00)
    clear()
    vi.stubEnv('AWS_LAMBDA_LOG_LEVEL', 'ERROR')
    const reply = await payDuring(batch, '00:00:01', async () => {
      granted(await fail(batch, '00:01:01'))
      await next(batch)
    })
    expect(refused(reply)).toMatchObject({ code: '409/5005' })
    const result = { kind: 'paid', bankReference: `B-${batch.uuid.slice(0, 8)}` }
    expect(lines()).toContainEqual(
      expect.objectContaining({ level: 'ERROR', batch: batch.id, result }),
    )
  },
)

test('a reply that a bank has paid a payout never ends its retry, which the bank has yet to pay', async () => {
  const batch = await batchOf(120_00)
  clear()
  vi.stubEnv('AWS_LAMBDA_LOG_LEVEL', 'ERROR')
  const reply = await payDuring(batch, '00:00:01', async () => {
    granted(await fail(batch, '00:01:01'))
    bank.behaviours.push('pay later')
    await retry(batch)
  })
  const { uuid, bankReference } = granted(reply)
  expect(uuid).not.toBe(batch.uuid)
  expect(bankReference).toBe(`B-${uuid.slice(0, 8)}`)
  const message = 'the bank has paid a payout that ended otherwise'
  expect(lines()).toContainEqual(expect.objectContaining({ message, batch: batch.id }))
})

test('a reply that a bank has paid is no error if an operator has recorded this payout since', async () => {
  const batch = await batchOf(120_00)
  clear()
  vi.stubEnv('AWS_LAMBDA_LOG_LEVEL', 'ERROR')
  await payDuring(batch, '00:00:01', () => complete(batch, { bankReference: 'RTGS-1' }))
  expect(await reload(batch)).toMatchObject({ status: 'completed', bankReference: 'RTGS-1' })
  expect(lines()).toEqual([])
})

test('an operator with an approval records a payout that offsets as many batches as a transaction holds', async () => {
  const payable = await batchOf(500_00)
  await owe(120)
  // The record of the change, and the mark of the approval.
  const alongside = () =>
    [1, 2].map((n) => putWrite({ pk: `CHANGE#${n}`, sk: 'CHANGE', entity: 'change' }, isNew))
  const amount = pesewas(500_00 - 96_00)
  await suspend(payable)
  const completed = granted(await complete(payable, { amount }, alongside))
  expect([completed.offsets.length, completed.paid]).toEqual([96, amount])
  const ended = { status: 'completed', outstanding: 0, offsetBy: payable.id }
  for (const { batch: id } of completed.offsets) expect(await reload({ id })).toMatchObject(ended)
})

test('the payouts after a change of the settlement account, and their retries, are made after the hold', async () => {
  const payoutsHeldUntil = at('09:30:00', 9).toISOString()
  const details = `the settlement account changed: payouts are held until ${payoutsHeldUntil}`
  const held = { code: '400/5001', details }
  const batch = await batchOf(100_00)
  bank.behaviours.push('reject')
  await pay(batch)
  await updateProvider(provider, { payoutsHeldUntil })
  expect(refused(await retryBatch(batch.id, noWrites, deps()))).toEqual(held)
  expect(refused(await retryBatch(batch.id, noWrites, depsAt('09:29:59.999')))).toEqual(held)
  expect(await reload(batch)).toMatchObject({ status: 'failed' })
  expect(paidAmounts()).toEqual([])
  const paid = granted(await retryBatch(batch.id, noWrites, depsAt('09:30:00')))
  expect(paid).toMatchObject({ status: 'completed' })
  expect(paidAmounts()).toEqual([100_00])
})

const remit = (amount: number) => fund(amount, at('09:00:00', 2))

test('the second of two first corrections at once is not written, and leaves the cash', async () => {
  await fund(500_00, at('09:00:00', 2), { reference: 'R-1' })
  const previous = (await findFunding(gcb.identifier, 'R-1')) as Funding
  const correctTo = (amount: number) => {
    const correction = { amount: pesewas(amount), reason: 'Typing error', by: 'local:ama' }
    const dated = { ...correction, at: at('10:00:00', 2).toISOString() }
    return correctFunding(previous, dated, [], runtimeAt('10:00:00', 2))
  }
  expect([await correctTo(50_00), await correctTo(5_00)]).toEqual([true, false])
  expect(await findFunds()).toBe(50_00)
})

/** Returns the status or the code of the refusal, and the remaining cash. */
const outcomeOf = async (result: Batch | Refusal) => [
  result instanceof Refusal ? refused(result).code : result.status,
  await findFunds(),
]
const tryToPay = async ({ id }: Batch) => outcomeOf(await payBatch(id, deps()))

test('a payout takes its cash even below zero, a rejection returns it, and each retry takes it again', async () => {
  const batch = await batchOf(100_00)
  await remit(30_00)
  bank.behaviours.push('reject', 'reject')
  for (const attempt of [pay, retry]) {
    expect(await outcomeOf(await attempt(batch))).toEqual(['failed', 30_00])
  }
  expect(await outcomeOf(await retry(batch))).toEqual(['completed', -70_00])
})

describe('payouts that wait for funding', () => {
  beforeEach(() => vi.stubEnv('PAYOUTS_WAIT_FOR_FUNDING', 'true'))

  const ofOther = async (amount: number) =>
    batchOf(amount, 0, await newProvider({ account: '1041001002' }))

  test('a payout that the cash does not cover stays pending with 5001', async () => {
    const batch = await batchOf(100_00)
    expect(await tryToPay(batch)).toEqual(['400/5001', 0])
    await remit(99_99)
    const details = 'the batch needs 100.00, and 99.99 of the remitted cash is available'
    expect(refused(await payBatch(batch.id, deps()))).toEqual({ code: '400/5001', details })
    expect(bank.requests).toEqual([])
    expect(await reload(batch)).toMatchObject({ status: 'pending' })
    await remit(1)
    expect(await tryToPay(batch)).toEqual(['completed', 0])
  })

  test('a retry that the cash does not cover leaves the batch failed, and its change is not recorded', async () => {
    const batch = await batchOf(100_00)
    await remit(100_00)
    bank.behaviours.push('reject')
    expect(await tryToPay(batch)).toEqual(['failed', 100_00])
    await ofOther(90_00).then(tryToPay)
    const record = () => [putWrite({ pk: 'CHANGE#1', sk: 'CHANGE', entity: 'change' }, isNew)]
    const retried = async () => outcomeOf(await retryBatch(batch.id, record, deps()))
    expect(await retried()).toEqual(['400/5001', 10_00])
    expect(await reload(batch)).toMatchObject({ status: 'failed', attempt: 1, uuid: batch.uuid })
    await remit(90_00)
    expect(await retried()).toEqual(['completed', 0])
  })

  test('two concurrent payouts never spend the same cash, and two workers take it once', async () => {
    const batches = [await batchOf(100_00), await ofOther(90_00)]
    await remit(150_00)
    await Promise.all([...batches, ...batches].map(tryToPay))
    const statuses = (await Promise.all(batches.map(reload))).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual(['completed', 'pending'])
    expect(bank.paid.size).toBe(1)
    expect(await findFunds()).toBe(statuses[0] === 'completed' ? 50_00 : 60_00)
  })

  test('a payout that an operator records takes its cash once, even below zero', async () => {
    const [begun, unsent] = [await batchOf(100_00), await ofOther(90_00)]
    await remit(100_00)
    bank.behaviours.push('pay later')
    expect(await tryToPay(begun)).toEqual(['processing', 0])
    const record = async (batch: Batch) =>
      outcomeOf(await complete(batch, { amount: pesewas(batch.totals?.net ?? 0) }))
    expect(await record(begun)).toEqual(['completed', 0])
    await suspend(unsent)
    expect(await record(unsent)).toEqual(['completed', -90_00])
  })

  test('a batch that offsets others needs cash only for the rest of its net', async () => {
    await remit(100_00)
    await belowZero(100_00)
    const next = await batchOf(120_00, 2)
    await remit(20_00)
    expect(await tryToPay(next)).toEqual(['completed', 0])
  })
})

test('a disabled provider whose batches are paid or below zero is enabled at once', async () => {
  vi.stubEnv('APPROVALS', 'true')
  const enable = async () => {
    await updateProvider(provider, { status: 'suspended' })
    const { result } = (await manageProvider(runtimeAt('12:00:00', 9))({
      ...{ verb: 'enable', options: { provider }, actor: 'local:ama' },
    })) as { result: object }
    return Object.keys(result)
  }
  await belowZero(100_00)
  expect(await enable()).toContain('status')
  await batchOf(500_00, 3)
  expect(await enable()).toEqual(['approval'])
})
