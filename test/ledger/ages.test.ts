import { beforeEach, expect, test } from 'vitest'
import type { Reference } from '../../shared/domain/ids.ts'
import { agesOf, type RecentChanges } from '../../shared/domain/settlement/ages.ts'
import type { Account } from '../../shared/domain/settlement/ledger-entry.ts'
import { debtFigures } from '../../shared/ledger/ages.ts'
import { closeDay } from '../../shared/reconciliation/close-day.ts'
import { payBatch } from '../../shared/settlement/pay.ts'
import { dayView } from '../../shared/views/operator/day.ts'
import { reconcileLater } from '../reconciliation/one-day.ts'
import { fakeBank } from '../settlement/fake-bank.ts'
import {
  at,
  builtBatch,
  completedDebits,
  dayAt,
  fund,
  newProvider,
  reverse,
  runtimeAt,
} from '../settlement/one-provider.ts'
import { useReportShelf } from '../settlement/report-shelf.ts'
import { granted } from '../support/refused.ts'
import { rowsOf } from '../support/rows.ts'
import { useFreshTable } from '../support/tables.ts'

useReportShelf()
beforeEach(useFreshTable)

const GCB = 'bank_receivable:GCB' as Account

/** What is owed; what was added on the day, the day before and two days before; the ages. */
const distributions = rowsOf(`
  100  100  0    0     100,0,0,0
  100  60   30   0     60,30,0,10
  100  40   200  0     40,60,0,0
  100  0    -20  50    0,0,50,50
  0    70   0    0     0,0,0,0
  -30  70   0    0     0,0,0,0
`)

test.each(distributions)(
  'the newest of a debt of %s is left, with %s, %s and %s added on the last days',
  (balance, day, before, twoBefore, expected) => {
    const changes = [day, before, twoBefore].map((added) => new Map([[GCB, Number(added)]]))
    const ages = agesOf(GCB, BigInt(balance ?? 0), changes as unknown as RecentChanges)
    expect(ages.join()).toBe(expected)
  },
)

const agesAt = async (day: number) => {
  const { banks, owing } = dayView(await closeDay(dayAt(day), at('03:00:00', day + 1)))
  return { banks: banks.map(({ ages }) => ages), owing: owing.map(({ ages }) => ages) }
}

test('a remittance covers the oldest collections, and a provider owes a reversal since its day', async () => {
  const provider = await newProvider({ account: '1041001001' })
  const [, second] = await completedDebits(provider, [100_00, 50_00], at('12:00:00'))
  const none = { 0: '0.00', 1: '0.00', 2: '0.00', more: '0.00' }
  const batch = (await builtBatch(provider)).id
  expect(await agesAt(0)).toEqual({ banks: [{ ...none, 0: '150.00' }], owing: [] })
  const { connectors } = fakeBank()
  granted(await payBatch(batch, { runtime: runtimeAt('00:10:00', 2), connectors }))
  await reverse(second?.facts.reference as Reference, at('09:00:00', 2))
  const owed = { ...none, 1: '50.00' }
  expect(await agesAt(3)).toEqual({ banks: [{ ...none, more: '150.00' }], owing: [owed] })
  expect(await debtFigures(dayAt(3))).toEqual({})
  const figures: unknown[] = []
  for (const day of [0, 1, 2, 3, 4]) {
    if (day === 4) await fund(120_00, at('10:00:00', 4), { reference: 'R-1' })
    await reconcileLater(dayAt(day), at('02:00:00', day + 1))
    figures.push(await debtFigures(dayAt(day)))
  }
  const nothing = { ProvidersOwing: 0, BanksOwing: 0 }
  expect(figures).toEqual([
    ...[nothing, nothing, nothing],
    { ProvidersOwing: 50, BanksOwing: 150 },
    { ProvidersOwing: 50, BanksOwing: 30 },
  ])
})

test('a remittance of the next day is not of the day, though it is recorded before the night', async () => {
  const provider = await newProvider({ account: '1041001001' })
  await completedDebits(provider, [150_00], at('12:00:00'))
  for (const day of [0, 1, 2, 3]) await reconcileLater(dayAt(day), at('02:00:00', day + 1))
  await fund(120_00, at('01:00:00', 4))
  expect((await debtFigures(dayAt(3))).BanksOwing).toBe(150)
  await reconcileLater(dayAt(4), at('02:00:00', 5))
  expect((await debtFigures(dayAt(4))).BanksOwing).toBe(30)
})
