import { beforeEach, expect, test } from 'vitest'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import type { Changes } from '../../shared/domain/debits/debit.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { readOutgoing } from '../../shared/reconciliation/bank-outgoing.ts'
import { closeDay } from '../../shared/reconciliation/close-day.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { completeBatch } from '../../shared/settlement/complete.ts'
import { payBatch } from '../../shared/settlement/pay.ts'
import { putStatement } from '../../shared/store/banks/statements.ts'
import { putException } from '../../shared/store/debits/exceptions.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { replaceBatch } from '../../shared/store/settlement/batches.ts'
import { correctFunding, findFunding } from '../../shared/store/settlement/funding.ts'
import { putClosing } from '../../shared/store/settlement/ledger-days.ts'
import { dayView } from '../../shared/views/operator/day.ts'
import { fakeBank } from '../settlement/fake-bank.ts'
import {
  at,
  builtBatch,
  completedDebits,
  dayAt,
  fund,
  newProvider,
  openedDebit,
  reverse,
  runtimeAt,
  updateProvider,
} from '../settlement/one-provider.ts'
import { useReportShelf } from '../settlement/report-shelf.ts'
import { gcb, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { storeBank } from '../support/settings.ts'
import { useFreshTable, useTable } from '../support/tables.ts'
import { lateCompletionOf, resolveLate } from './one-day.ts'

/** The closing of a day (docs/operators.md#close-a-day) from the books. */

useReportShelf()
beforeEach(useFreshTable)

const closed = async (day: number) => dayView(await closeDay(dayAt(day), at('03:00:00', day + 1)))

const correctTo = async (amount: number, reference: string, time: Date): Promise<void> => {
  const funding = await findFunding(gcb.identifier, reference)
  if (!funding) throw new Error(`No remittance ${reference}`)
  const correction = { amount: pesewas(amount), reason: 'Typing error', at: time.toISOString() }
  expect(await correctFunding(funding, { ...correction, by: 'local:ama' }, [], still())).toBe(true)
}

test('the remittances of a day are their sum after its corrections, however many', async () => {
  await newProvider()
  await fund(150_00, at('10:00:00'), { reference: 'R-1' })
  await fund(20_00, at('10:05:00'), { reference: 'R-2' })
  await correctTo(15_00, 'R-1', at('11:00:00'))
  await correctTo(120_00, 'R-1', at('12:00:00'))
  await correctTo(25_00, 'R-2', at('12:30:00'))
  expect((await closed(0)).banks).toMatchObject([{ bank: 'GCB', remitted: '145.00' }])
})

test('a bank that has sent too much is in the closing of each day until it is even', async () => {
  const provider = await newProvider()
  await completedDebits(provider, [100_00], at('09:00:00'))
  await fund(120_00, at('10:00:00'))
  const owed = [{ bank: 'GCB', receivable: '-20.00' }]
  expect((await closed(0)).banks).toMatchObject(owed)
  expect((await closed(1)).banks).toMatchObject(owed)
  await completedDebits(provider, [20_00], at('09:00:00', 2))
  expect((await closed(2)).banks).toMatchObject([{ bank: 'GCB', receivable: '0.00' }])
  expect((await closed(3)).banks).toEqual([])
})

test('a late completion is a debit that its bank moved, also after a note', async () => {
  const debit = await openedDebit(await newProvider(), 100_00)
  await putException(lateCompletionOf(debit, at('09:00:00')))
  await resolveLate(debit, at('10:00:00'))
  const reason = 'the bank moved debits, but has no statement'
  expect(await closed(0)).toMatchObject({
    open: [{ check: 'statement', subject: 'GCB', reason }],
    banks: [{ bank: 'GCB', debits: '100.00', receivable: '0.00' }],
  })
})

test('a batch of the day that is not sealed is open in its closing', async () => {
  const provider = await newProvider({ account: '1041001001' })
  await completedDebits(provider, [100_00, 50_00], at('12:00:00'))
  const part = { provider, date: dayAt(1), timeIsUp: () => true }
  const { batches, isDone } = await buildBatch(part, runtimeAt('00:00:01'))
  expect(isDone).toBe(false)
  const [id] = batches
  const unsealed = { check: 'batch', subject: id, reason: 'the batch is not sealed' }
  expect((await closed(1)).open).toContainEqual(expect.objectContaining(unsealed))
  expect((await closed(0)).open.map(({ check }) => check)).not.toContain('batch')
})

test('a batch is open in the closing of the day on which it is due, and not before', async () => {
  const provider = await newProvider({ account: '1041001001' })
  await completedDebits(provider, [100_00], at('12:00:00'))
  const { id } = await builtBatch(provider)
  const due = { check: 'batch', subject: id, reason: 'the batch is due and not paid' }
  expect((await closed(1)).open.map(({ check }) => check)).not.toContain('batch')
  expect((await closed(2)).open).toContainEqual(expect.objectContaining(due))
})

test('a payout in progress or rejected is open in the closing of its day', async () => {
  const { connectors, behaviours } = fakeBank()
  behaviours.push('pay later', 'reject')
  const expected: object[] = []
  for (const reason of ['the payout is in progress', 'the payout failed: No such account']) {
    const provider = await newProvider({ account: '1041001001' })
    await completedDebits(provider, [100_00], at('12:00:00'))
    const { id } = await builtBatch(provider)
    granted(await payBatch(id, { runtime: runtimeAt('00:00:01', 2), connectors }))
    expected.push({ check: 'batch', subject: id, reason, command: expect.stringContaining(id) })
  }
  const { open } = await closed(2)
  expect(open.filter(({ check }) => check === 'batch')).toEqual(expected)
})

test('a hundred open exceptions are named in the closing of a day, and the others are counted', async () => {
  const debit = await openedDebit(await newProvider(), 1_00)
  for (let n = 0; n < 102; n += 1)
    await putException(lateCompletionOf(debit, at(`09:00:00.${100 + n}`)))
  const open = (await closed(0)).open.filter(({ check }) => check === 'exception')
  expect(open.slice(0, 100).map(({ subject }) => subject)).toEqual(
    Array(100).fill(debit.facts.reference),
  )
  const command = 'operator exception list --status open'
  const others = { subject: '2', reason: '2 more exceptions are open', command }
  expect(open.slice(100)).toEqual([{ check: 'exception', ...others }])
})

test('a trial balance other than zero is open in the closing of a day', async () => {
  await putClosing({ day: dayAt(0), balances: { cash: 100_00, 'bank_receivable:GCB': -99_75 } })
  const reason = 'the trial balance is 0.25'
  const command = `operator ledger --date ${dayAt(1)}`
  expect((await closed(1)).open).toEqual([{ check: 'ledger', subject: dayAt(1), reason, command }])
})

test('a payout of a later day is not of the day while the index lags', async () => {
  let lag = 0
  useTable({ indexLag: () => lag })
  const provider = await newProvider({ account: '1041001001' })
  await completedDebits(provider, [100_00], at('12:00:00'))
  const batch = await builtBatch(provider)
  lag = 60_000
  const paidTo = { bank: gcb.identifier, accountNumber: '1041001001', accountName: 'Settled' }
  const payout = {
    status: 'completed',
    completedAt: at('01:00:00', 2),
    paid: pesewas(100_00),
  } as const
  await replaceBatch(batch, { ...batch, ...payout, paidTo })
  expect((await closed(1)).banks).toMatchObject([{ bank: 'GCB', payouts: '0.00' }])
})

const eco = 'ECO' as BankIdentifier

test.each([
  ['that of the account', undefined, gcb.identifier],
  ['the bank that an operator names', eco, eco],
  ['no bank', null, undefined],
])('a payout that was made by hand is a movement of %s', async (_, bank, paying) => {
  await storeBank({ ...gcb, identifier: eco })
  const provider = await newProvider({ account: '1041001001' })
  await completedDebits(provider, [100_00], at('12:00:00'))
  const { id } = await builtBatch(provider)
  await updateProvider(provider, { status: 'suspended' })
  const payout = { bankReference: 'RTGS-1', amount: pesewas(100_00), bank }
  granted(await completeBatch(id, payout, noWrites, runtimeAt('10:00:00', 2)))
  const { open, banks } = await closed(2)
  const moved = banks.filter(({ payouts }) => payouts === '100.00')
  expect(moved.map((one) => one.bank)).toEqual(paying ? [paying] : [])
  expect(open.map(({ subject }) => subject)).toEqual(paying ? [paying] : [])
  for (const one of [gcb.identifier, eco]) {
    const { outgoing } = await readOutgoing('payout', { bank: one, date: dayAt(2), after: '' })
    expect(outgoing).toHaveLength(one === paying ? 1 : 0)
  }
})

/** Records that a statement agreed with the debits of the first day. */
const compare = (compared: Date) =>
  putStatement({
    ...{ bank: gcb.identifier, date: dayAt(0), covers: ['debit'], digest: 'd', by: 'local:ama' },
    counts: { matched: 1, missing_here: 0, missing_at_bank: 0, differs: 0 },
    names: { missing_here: [], missing_at_bank: [], differs: [] },
    at: compared,
  })

test('a statement that was compared before the day ended confirms nothing, and a later one does', async () => {
  const provider = await newProvider()
  await completedDebits(provider, [100_00], at('09:00:00'))
  await compare(at('09:01:00'))
  await completedDebits(provider, [50_00], at('20:00:00'))
  const early = { subject: 'GCB', reason: 'the statement was compared before the day ended' }
  expect(await closed(0)).toMatchObject({ open: [early], banks: [{ statement: 'early' }] })
  await compare(at('00:00:00', 1))
  expect(await closed(0)).toMatchObject({ open: [], banks: [{ statement: 'agrees' }] })
})

test('a statement confirms nothing after a debit of its day was reversed without a refund', async () => {
  const provider = await newProvider()
  const [debit] = await completedDebits(provider, [100_00, 50_00], at('09:00:00'))
  const [later] = await completedDebits(provider, [20_00], at('00:00:01', 1))
  await compare(at('01:00:00', 1))
  const reverseAt = (one: typeof debit, time: string, changes: Changes = {}) =>
    reverse(one?.facts.reference as Reference, at(time, 1), changes)
  await reverseAt(later, '02:00:00', { refund: 'none' })
  expect(await closed(0)).toMatchObject({ open: [], banks: [{ statement: 'agrees' }] })
  await reverseAt(debit, '02:00:00', { refund: 'none' })
  const reason = `the statement was compared before ${debit?.facts.reference} was reversed without a refund`
  const open = [{ check: 'statement', subject: 'GCB', reason }]
  expect(await closed(0)).toMatchObject({ open, banks: [{ statement: 'early' }] })
  await compare(at('02:30:00', 1))
  expect(await closed(0)).toMatchObject({ open: [], banks: [{ statement: 'agrees' }] })
})
