import { beforeEach, expect, test } from 'vitest'
import { processBatch } from '../../functions/jobs/process-batch.ts'
import { reconcileDay } from '../../functions/jobs/reconcile-day.ts'
import { manageCalendar } from '../../functions/operator/manage-calendar.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { type Batch, isEarlyPayout } from '../../shared/domain/settlement/batch.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { closeDay } from '../../shared/reconciliation/close-day.ts'
import { payBatch, retryBatch } from '../../shared/settlement/pay.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { findBatch, listPayable } from '../../shared/store/settlement/batches.ts'
import { demoProvider, gcb } from '../support/examples.ts'
import { captureOutput } from '../support/output.ts'
import { granted, refused } from '../support/refused.ts'
import { storeBank, storeProvider } from '../support/settings.ts'
import { useFreshTable } from '../support/tables.ts'
import { type FakeBank, fakeBank } from './fake-bank.ts'
import { take } from './messages-sent.ts'
import { at, builtBatch, completedDebit, newProvider, reverse, runtimeAt } from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

/** Payout days of banks, and the calendar of public holidays (docs/settlement.md#payout-days). */

process.env.METRICS_DISABLED = 'false'

const { clear, metrics } = captureOutput()
useReportShelf()

/** Days after Sunday, 22 November 2026. */
const [FRIDAY, SUNDAY, MONDAY, TUESDAY] = [5, 7, 8, 9] as const

let provider: ProviderId
let bank: FakeBank
beforeEach(async () => {
  clear()
  await useFreshTable()
  provider = await newProvider({ account: '1041001001' })
  await storeBank({ ...gcb, payoutDays: 'working' })
  bank = fakeBank()
})

const depsOn = (day: number) => ({
  runtime: runtimeAt('00:00:01', day),
  connectors: bank.connectors,
})

const calendar = async (verb: string, options: Record<string, string>) => {
  const reply = await manageCalendar(runtimeAt('12:00:00'))({ verb, options })
  if ('error' in reply) throw new Error(reply.error)
  return reply.result
}

const holiday = (date: string) => calendar('add', { date, name: 'Declared' })

/** Builds the batch of a debit that completed on a day, in the night after it. */
const batchOf = async (day: number): Promise<Batch> => {
  await completedDebit(provider, 100_00, at('12:00:00', day))
  return builtBatch(provider, day + 1)
}

/** Returns the figures of the night of a day. */
const figures = async (day: number) => {
  clear()
  await take(reconcileDay(runtimeAt('02:00:00', day)), 'reconciliations', {})
  return metrics()[0]
}

/** Returns how often the night of a day measures a missing calendar. */
const missingOn = async (day: string) => {
  clear()
  const runtime = { ...runtimeAt('02:00:00'), now: () => new Date(`${day}T02:00:00Z`) }
  await take(reconcileDay(runtime), 'reconciliations', {})
  return metrics().flatMap(({ CalendarMissing }) => CalendarMissing ?? [])
}

/** Returns the batches that the closing of a day names. */
const openOn = async (day: number) => {
  const { open } = await closeDay(dayOf(at('12:00:00', day)), at('12:00:00', day + 1))
  return open.filter(({ check }) => check === 'batch')
}

const dueOn = async (day: number) => listPayable(at('00:00:00', day))

test.each([
  ['of Friday is paid on Monday', FRIDAY, [], '2026-11-30'],
  ['of Thursday is paid on Monday', FRIDAY - 1, [], '2026-11-30'],
  ['of Sunday is paid on Tuesday', SUNDAY, [], '2026-12-01'],
  ['before a long weekend is paid after it', FRIDAY, ['2026-11-30', '2026-12-01'], '2026-12-02'],
  [
    'before Christmas is paid after the holidays and a declared day',
    32,
    ['2026-12-25', '2026-12-28', '2026-12-29', '2027-01-01'],
    '2026-12-30',
  ],
  ['of the last days of a year is paid in the next one', 38, ['2027-01-01'], '2027-01-04'],
  ['before a free last day is paid after New Year', 37, ['2026-12-31', '2027-01-01'], '2027-01-04'],
] as const)('a debit %s', async (_, day, holidays, payOn) => {
  for (const date of holidays) await holiday(date)
  const batch = await batchOf(day)
  expect(batch.payOn).toBe(payOn)
  const [before, from] = [new Date(Date.parse(payOn) - 1), new Date(payOn)] as const
  expect(await listPayable(before)).toEqual([])
  expect(await listPayable(from)).toEqual([batch.id])
  expect([before, from].map((time) => isEarlyPayout(batch, time))).toEqual([true, false])
})

test('a debit is paid on the day after the run if its bank pays on all days, or no account is known', async () => {
  await storeBank(gcb)
  expect(await batchOf(FRIDAY)).toMatchObject({ payOn: '2026-11-29' })
  provider = await newProvider()
  await storeBank({ ...gcb, payoutDays: 'working' })
  expect(await batchOf(FRIDAY)).toMatchObject({ payOn: '2026-11-29' })
})

test('a holiday that is declared after the batch was sealed delays its payout, without an alarm', async () => {
  const { id } = await batchOf(FRIDAY)
  await holiday('2026-11-30')
  expect(await dueOn(MONDAY)).toEqual([id])
  await take(processBatch(runtimeAt('00:00:01', MONDAY)), 'payments', { batch: id })
  expect(metrics()).toEqual([])
  expect(refused(await payBatch(id, depsOn(MONDAY)))).toEqual({
    code: '400/5001',
    details: '2026-11-30 is no working day of GCB: --any-day true pays',
  })
  expect(bank.paid.size).toBe(0)
  expect(await figures(TUESDAY)).toMatchObject({ PayoutsDue: 0, OverduePayouts: 0 })
  expect(await openOn(MONDAY)).toEqual([])
  expect(await openOn(TUESDAY)).toMatchObject([{ reason: 'the batch is due and not paid' }])
  expect(granted(await payBatch(id, depsOn(TUESDAY)))).toMatchObject({ status: 'completed' })
  const made = { PayoutsDue: 1, PayoutsLate: 0, OverduePayouts: 0 }
  expect(await figures(TUESDAY + 1)).toMatchObject(made)
})

test('a payout on a last day of the year that is declared free is neither due nor overdue', async () => {
  const { payOn } = await batchOf(37)
  expect(payOn).toBe('2026-12-31')
  for (const date of ['2026-12-31', '2027-01-01']) await holiday(date)
  expect(await figures(41)).toMatchObject({ PayoutsDue: 0, OverduePayouts: 0 })
})

test('a rejected payout is retried on a free day only with --any-day', async () => {
  const { id } = await batchOf(FRIDAY)
  bank.behaviours.push('reject')
  expect(granted(await payBatch(id, depsOn(MONDAY)))).toMatchObject({ status: 'failed' })
  await holiday('2026-12-01')
  const retry = (anyDay: boolean) => retryBatch(id, noWrites, depsOn(TUESDAY), { anyDay })
  expect(refused(await retry(false)).details).toContain('2026-12-01 is no working day')
  expect(await findBatch(id)).toMatchObject({ status: 'failed', attempt: 1 })
  expect(granted(await retry(true))).toMatchObject({ status: 'completed', attempt: 2 })
})

test('a payout that has begun continues on a free day', async () => {
  const { id } = await batchOf(FRIDAY)
  bank.behaviours.push('pay later')
  expect(granted(await payBatch(id, depsOn(MONDAY)))).toMatchObject({ status: 'processing' })
  await holiday('2026-12-01')
  expect(granted(await payBatch(id, depsOn(TUESDAY)))).toMatchObject({ status: 'completed' })
})

const [CHRISTMAS, NEW_YEAR] = ['2026-12-25', '2027-01-01']

test.each([
  ['of the next year rings each night of December', '2026-12-01', 'working', [CHRISTMAS], [1]],
  ['of the next year does not ring in November', '2026-11-30', 'working', [CHRISTMAS], []],
  ['of this year rings each night', '2027-01-02', 'working', [CHRISTMAS], [1]],
  ['rings for no year that has one', '2026-12-01', 'working', [CHRISTMAS, NEW_YEAR], []],
  ['does not ring for banks that pay on all days', '2026-12-01', 'all', [], []],
  ['rings for providers that request reversals', '2026-12-01', 'request', [], [1]],
] as const)('a missing calendar %s', async (_, day, needs, days, values) => {
  if (needs === 'request') await storeProvider({ ...demoProvider, reversals: needs })
  await storeBank({ ...gcb, payoutDays: needs === 'working' ? needs : 'all' })
  for (const date of days) await holiday(date)
  expect(await missingOn(day)).toEqual(values)
})

test('a calendar that has lost its days is missing', async () => {
  for (const date of [CHRISTMAS, NEW_YEAR]) await holiday(date)
  await calendar('remove', { date: NEW_YEAR })
  expect(await missingOn('2026-12-01')).toEqual([1])
})

test('a payout that waits for a working day is due on that day, and late after it', async () => {
  await batchOf(FRIDAY)
  for (const day of [SUNDAY, MONDAY]) {
    expect(await figures(day)).toMatchObject({ PayoutsDue: 0, OverduePayouts: 0 })
  }
  const late = { PayoutsDue: 1, PayoutsLate: 1, OverduePayouts: 1 }
  expect(await figures(TUESDAY)).toMatchObject(late)
})

test('a payout that is made on the day after its day is late', async () => {
  const { id } = await batchOf(FRIDAY)
  granted(await payBatch(id, depsOn(TUESDAY)))
  const late = { PayoutsDue: 1, PayoutsLate: 1, OverduePayouts: 0 }
  expect(await figures(TUESDAY)).toMatchObject(late)
})

test('a batch below zero is no payout that is due or late', async () => {
  const debit = await completedDebit(provider, 10_00, at('09:00:00'))
  const { id } = await builtBatch(provider)
  await payBatch(id, { runtime: runtimeAt('00:00:01', 2), connectors: bank.connectors })
  await reverse(debit.facts.reference, at('12:00:00', 2))
  expect(await builtBatch(provider, 3)).toMatchObject({ totals: { net: -10_00 } })
  const none = { PayoutsDue: 0, PayoutsLate: 0, OverduePayouts: 0 }
  expect(await figures(5)).toMatchObject(none)
})

test('the days of a calendar are added, renamed, removed, replaced and listed in their order', async () => {
  await calendar('add', { date: '2026-12-25', name: 'Christmas' })
  await calendar('add', { date: '2026-03-06', name: 'Independence' })
  expect(await calendar('add', { date: '2026-03-06', name: 'Independence Day' })).toEqual({
    year: '2026',
    days: [
      { date: '2026-03-06', name: 'Independence Day' },
      { date: '2026-12-25', name: 'Christmas' },
    ],
  })
  await calendar('remove', { date: '2026-12-25' })
  await expect(calendar('remove', { date: '2026-12-25' })).rejects.toThrow('no such holiday')
  const days = JSON.stringify({ '2026-05-01': 'Workers’ Day' })
  await calendar('set', { year: '2026', file: 'x', days })
  expect(await calendar('show', { year: '2026' })).toEqual({
    year: '2026',
    days: [{ date: '2026-05-01', name: 'Workers’ Day' }],
  })
  expect(await calendar('show', { year: '2027' })).toEqual({ year: '2027', days: [] })
})

test.each([
  [{ year: '2026', file: 'x' }, '--days: is required'],
  [{ year: '2026', file: 'x', days: '{"2027-01-01":"x"}' }, '--days: must be days of 2026'],
  [{ year: '2026', file: 'x', days: '{}' }, '--days: must be days of 2026'],
  [{ year: '2026', file: 'x', days: '{"2026-02-30":"x"}' }, 'calendar'],
  [{ year: '2026', file: 'x', days: '[]' }, '--days'],
  [{ year: '2026', file: 'x', days: 'no JSON' }, '--days'],
  [{ year: '2200', file: 'x', days: '{}' }, '--year: must be a year from 2000 to 2199'],
])('the calendar %j is refused', async (options, reason) => {
  await expect(calendar('set', options as never)).rejects.toThrow(reason)
})
