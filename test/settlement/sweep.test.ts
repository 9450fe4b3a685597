import { beforeEach, describe, expect, test } from 'vitest'
import { sweep } from '../../functions/jobs/sweep.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { payBatch } from '../../shared/settlement/pay.ts'
import { keys } from '../../shared/store/keys.ts'
import { read } from '../../shared/store/table.ts'
import { listNewest } from '../../shared/store/webhooks/feed.ts'
import { putSweepProgress } from '../../shared/store/work-index.ts'
import { useFreshTable } from '../support/tables.ts'
import { fakeBank } from './fake-bank.ts'
import { gathered, take, useQueues } from './messages-sent.ts'
import {
  at,
  builtBatch,
  completedDebit,
  completedDebits,
  dayAt,
  newProvider,
  reverse,
  runtimeAt,
} from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

// The progress of the sweep is in the table.
beforeEach(useFreshTable)
useQueues()
useReportShelf()

const build = (provider: ProviderId, day = 1) =>
  buildBatch({ provider, date: dayAt(day) }, runtimeAt('00:00:01', day))

const sweepAt = (time: string, day = 1) =>
  gathered(() => take(sweep(runtimeAt(time, day)), 'sweeps', {}))

/** Returns the list and the due time of a debit in the work index. */
const workOf = async (reference: Parameters<typeof keys.debit>[0]) => {
  const item = await read<Record<string, unknown>>(keys.debit(reference))
  return item?.work && `${String(item.work).split('#')[0]} ${item.due}`
}

describe('a settled debit', () => {
  // Consecutive sweeps overlap by a minute.
  test.each([
    ['23:56:59.999', undefined],
    ['23:57:00.000', 'WATCH 2026-11-22T23:59:00.000Z'],
    ['23:59:59.999', 'WATCH 2026-11-23T00:01:59.999Z'],
  ])('completed at %s and swept until 23:58 has the work item %s', async (time, work) => {
    const provider = await newProvider()
    await putSweepProgress({ until: at('23:58:00') })
    const { reference } = (await completedDebit(provider, 10_00, at(time))).facts
    expect(await workOf(reference)).toMatch(/^SETTLE/)
    await build(provider)
    expect(await workOf(reference)).toBe(work)
  })

  test.each([
    ['15 minutes late', { until: at('23:45:00') }],
    ['yet to run for the first time', undefined],
  ])('gets its events although the sweep is %s at midnight', async (_, progress) => {
    const provider = await newProvider()
    if (progress) await putSweepProgress(progress)
    // The stream record of the completion is lost.
    const { reference } = (await completedDebit(provider, 10_00, at('23:50:00'))).facts
    await build(provider)
    for (const time of ['00:05:00', '00:06:00', '00:07:00']) await sweepAt(time)
    expect((await listNewest(provider, 10)).filter((event) => event.n === 2)).toEqual([
      { reference, n: 2 },
    ])
  })

  test('that is reversed before the sweep gets both events and stays listed for its adjustment', async () => {
    const provider = await newProvider()
    const { reference } = (await completedDebit(provider, 10_00, at('23:59:30'))).facts
    await build(provider)
    // It waits for its adjustment in the list of unsettled debits.
    await reverse(reference, at('00:00:30', 1))
    await putSweepProgress({ until: at('23:58:00') })
    await sweepAt('00:03:00')
    const events = await listNewest(provider, 10)
    expect(events.map(({ n }) => n).sort()).toEqual([0, 1, 2, 3])
    expect(await workOf(reference)).toBe('SETTLE 2026-11-23T00:00:30.000Z')
  })
})

test('a batch is paid again with growing delays while its payout is in progress', async () => {
  const provider = await newProvider({ account: '1041001001' })
  await completedDebits(provider, [10_00], at('09:00:00'))
  const batch = await builtBatch(provider)
  const bank = fakeBank()
  bank.behaviours.push('pay later')
  const deps = { runtime: runtimeAt('12:00:00'), connectors: bank.connectors }
  await payBatch(batch.id, deps)
  const sentFor = async ({ id }: Batch, time: string) =>
    (await sweepAt(time)).filter(({ body }) => body.batch === id)
  const payment = [{ queue: 'payments', body: { batch: batch.id } }]
  expect(await sentFor(batch, '12:01:59')).toEqual([])
  expect(await sentFor(batch, '12:02:00')).toEqual(payment)
  // At twice the age of the payout.
  expect(await sentFor(batch, '12:03:59')).toEqual([])
  expect(await sentFor(batch, '12:04:00')).toEqual(payment)
  expect(await sentFor(batch, '12:07:59')).toEqual([])
  expect(await sentFor(batch, '12:08:00')).toEqual(payment)
  await payBatch(batch.id, deps)
  expect(await sentFor(batch, '23:59:59.999')).toEqual([])
})
