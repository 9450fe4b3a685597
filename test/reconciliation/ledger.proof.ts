import { DeleteCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, expect, test } from 'vitest'
import type { Reference } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import type { BatchId } from '../../shared/domain/settlement/batch.ts'
import type { Day } from '../../shared/domain/time.ts'
import { reconcile } from '../../shared/reconciliation/reconcile.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { payBatch } from '../../shared/settlement/pay.ts'
import { type Key, keys } from '../../shared/store/keys.ts'
import { putFunding } from '../../shared/store/settlement/funding.ts'
import { findClosing } from '../../shared/store/settlement/ledger-days.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { fakeBank } from '../settlement/fake-bank.ts'
import { at, completedDebits, dayAt, newProvider, reverse } from '../settlement/one-provider.ts'
import { useReportShelf } from '../settlement/report-shelf.ts'
import { gcb, still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { damage } from './one-day.ts'

useReportShelf()
beforeEach(useFreshTable)

/** Returns what the ledger check finds in the night after a day. */
const found = async (day: number): Promise<string[]> => {
  const now = at('02:00:00', day + 1)
  const { invariants } = await reconcile(dayAt(day), { now: () => now })
  return (invariants.find(({ number }) => number === 40)?.examples ?? []).map(
    ({ difference }) => difference,
  )
}

type SettledDay = { provider: ProviderId; batch: BatchId; reversed: Reference }

/** Completes two debits on day 0, settles both and reverses one on day 1, and pays on day 2. */
const settleDay = async (): Promise<SettledDay> => {
  const feeSchedule = { basisPoints: 150, fixed: pesewas(0) }
  const provider = await newProvider({ feeSchedule, account: '1041001001' })
  const [, second] = await completedDebits(provider, [100_00, 50_00], at('12:00:00'))
  const reversed = second?.facts.reference as Reference
  expect(await found(0)).toEqual([])
  const runtimeAt = (day: number) => still({ now: () => at('00:10:00', day) })
  const { batches } = await buildBatch({ provider, date: dayAt(1) }, runtimeAt(1))
  await reverse(reversed, at('09:00:00', 1))
  await putFunding(
    {
      bank: gcb.identifier,
      reference: 'R-1',
      amount: pesewas(150_00),
      date: dayAt(1),
      recordedAt: at('10:00:00', 1),
      recordedBy: 'local:ama',
    },
    [],
    still(),
  )
  expect(await found(1)).toEqual([])
  const batch = batches[0] as BatchId
  const { connectors } = fakeBank()
  const paid = await payBatch(batch, { runtime: runtimeAt(2), connectors })
  if (paid instanceof Refusal) throw new Error(String(paid.details))
  return { provider, batch, reversed }
}

const remove = (Key: Key) => table.send(new DeleteCommand({ TableName: tableName(), Key }))

test('a payout, a reversal and a funding agree with the table on each day', async () => {
  await settleDay()
  expect([await found(0), await found(1), await found(2)]).toEqual([[], [], []])
})

const faults: [name: string, plant: (day: SettledDay) => Promise<unknown>, difference: RegExp][] = [
  [
    'a batch with twice the payout',
    ({ batch }) => damage(keys.batch(batch), 'SET paid = :twice', { twice: 295_50 }),
    /^payouts are 295\.50 in the ledger, but the nets of their batches give 147\.75$/,
  ],
  [
    'a batch with another net',
    ({ batch }) => damage(keys.batch(batch), 'SET totals.net = :net', { net: 147_76 }),
    /^payouts are 147\.75 in the ledger, but the nets of their batches give 147\.76$/,
  ],
  [
    'a missing refund',
    ({ reversed }) => remove(keys.refund(reversed)),
    /^refunds_payable is -50\.00 in the ledger, but 0\.00 in the table$/,
  ],
  [
    'a refund of another amount',
    ({ reversed }) => damage(keys.refund(reversed), 'SET amount = :more', { more: 60_00 }),
    /^refunds_payable is -50\.00 in the ledger, but -60\.00 in the table$/,
  ],
  [
    'a missing funding',
    () => remove(keys.funding(gcb.identifier, 'R-1')),
    /^cash is -147\.75 in the ledger, but 2\.25 in the table$/,
  ],
  [
    'cash without a funding or payout',
    () => damage(keys.funds, 'ADD cash :one', { one: 1 }),
    /^cash is 2\.25 in the ledger, but 2\.26 in the table$/,
  ],
  [
    'stored balances that do not add up',
    () => damage(keys.ledger(dayAt(1)), 'SET balances.fee_income = :no', { no: 0 }),
    /^the opening trial balance is 2\.25$/,
  ],
  [
    'an adjustment that the index lost',
    ({ reversed }) => damage(keys.debit(reversed), 'REMOVE #work, due'),
    /^provider_payable:\S+ is 50\.00 in the ledger, but 0\.00 in the table$/,
  ],
]

test.each(faults)('%s is a difference', async (_, plant, difference) => {
  await plant(await settleDay())
  expect(await found(2)).toContainEqual(expect.stringMatching(difference))
})

test.each([
  ['fees', { 'totals.fee': 2_26 }],
  ['a net', { 'totals.net': 147_76 }],
  ['a gross', { 'totals.gross': 150_01 }],
])('%s other than that of the lines is a difference on the day of the seal', async (_, values) => {
  const { batch } = await settleDay()
  for (const [name, value] of Object.entries(values)) {
    await damage(keys.batch(batch), `SET ${name} = :value`, { value })
  }
  expect(await found(1)).not.toEqual([])
})

test('balances are stored only for days without a difference', async () => {
  const { batch } = await settleDay()
  await damage(keys.batch(batch), 'SET paid = :twice', { twice: 295_50 })
  expect(await found(2)).not.toEqual([])
  const last = async (): Promise<Day | undefined> => (await findClosing(dayAt(5)))?.day
  expect(await last()).toBe(dayAt(1))
  await damage(keys.batch(batch), 'SET paid = :once', { once: 147_75 })
  expect(await found(3)).toEqual([])
  expect(await last()).toBe(dayAt(3))
})

test('an unreadable debit is a difference and hides no other', async () => {
  const { provider } = await settleDay()
  const [unreadable, unsettled] = await completedDebits(provider, [7_00, 8_00], at('12:00:00', 2))
  if (!unreadable || !unsettled) throw new Error('two were completed')
  await damage(keys.debit(unreadable.facts.reference), 'SET metadata = :no', { no: '{' })
  const { invariants } = await reconcile(dayAt(2), { now: () => at('03:00:00', 4) })
  const numbers = invariants.filter(({ differences }) => differences > 0).map((one) => one.number)
  expect(numbers).toEqual(expect.arrayContaining([22, 40]))
  expect(invariants.find(({ number }) => number === 40)?.examples).toMatchObject([
    { subject: dayAt(2), difference: expect.stringContaining('cannot be derived') },
  ])
})

test('a day is not compared before its end', async () => {
  await settleDay()
  await damage(keys.funds, 'ADD cash :one', { one: 1 })
  const { invariants } = await reconcile(dayAt(2), { now: () => at('23:59:59', 2) })
  expect(invariants.find(({ number }) => number === 40)).toMatchObject({ checked: 0 })
})
