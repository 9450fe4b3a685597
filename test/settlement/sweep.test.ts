import { beforeEach, describe, expect, test } from 'vitest'
import { buildBatches } from '../../functions/jobs/build-batch.ts'
import { sweep } from '../../functions/jobs/sweep.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { payBatch } from '../../shared/settlement/pay.ts'
import { keys } from '../../shared/store/keys.ts'
import { listBatchesOfDay } from '../../shared/store/settlement/batches.ts'
import { putSweepProgress } from '../../shared/store/sweep-progress.ts'
import { read } from '../../shared/store/table.ts'
import { listNewest } from '../../shared/store/webhooks/feed.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { bankBooks } from './bank-books.ts'
import { Killed, killing, meeting } from './meeting.ts'
import { gathered, take, useQueues } from './messages-sent.ts'
import { at, completedDebits, dayAt, newProvider, reverse } from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

/** What the sweep finds of settlement: events that were never told, batches that were left. */

// How far the sweep has looked is in the table: a table for each test.
beforeEach(useFreshTable)
useQueues()
useReportShelf()

const NIGHT = at('00:00:01', 1)

const build = (provider: ProviderId) =>
  buildBatch({ provider, date: dayAt(1) }, still({ now: () => NIGHT }), () => false)

const sweepAt = (time: string) =>
  gathered(() => take(sweep(still({ now: () => at(time, 1) })), 'sweeps', {}))

/** Under what a debit is looked for in the index. */
const workOf = async (reference: Parameters<typeof keys.debit>[0]) => {
  const item = await read<Record<string, unknown>>(keys.debit(reference))
  return item?.work && `${String(item.work).split('#')[0]} ${item.due}`
}

describe('a debit that is settled', () => {
  // The spans of the sweep overlap by a minute.
  test.each([
    ['23:56:59.999', undefined],
    ['23:57:00.000', 'WATCH 2026-11-22T23:59:00.000Z'],
    ['23:59:59.999', 'WATCH 2026-11-23T00:01:59.999Z'],
  ])('completed at %s, after a sweep until 23:58, is watched: %s', async (time, work) => {
    const provider = await newProvider()
    await putSweepProgress({ until: at('23:58:00') })
    const [debit] = await completedDebits(provider, [10_00], at(time))
    if (!debit) throw new Error('No debit')
    expect(await workOf(debit.facts.reference)).toMatch(/^SETTLE/)
    await build(provider)
    expect(await workOf(debit.facts.reference)).toBe(work)
  })

  test.each([
    ['swept until 23:45', { until: at('23:45:00') }],
    ['never swept', undefined],
  ])('at 00:00 while the sweep is late (%s) still gets its events', async (_, progress) => {
    const provider = await newProvider()
    if (progress) await putSweepProgress(progress)
    // The stream record of the completion is lost.
    const [debit] = await completedDebits(provider, [10_00], at('23:50:00'))
    if (!debit) throw new Error('No debit')
    await build(provider)
    for (const time of ['00:05:00', '00:06:00', '00:07:00']) await sweepAt(time)
    const { reference } = debit.facts
    expect((await listNewest(provider, 10)).filter((event) => event.n === 2)).toEqual([
      { reference, n: 2 },
    ])
  })

  test('and taken back at 00:00 while the sweep is late still gets the event of its reversal', async () => {
    const provider = await newProvider()
    const [debit] = await completedDebits(provider, [10_00], at('09:00:00'))
    if (!debit) throw new Error('No debit')
    await build(provider)
    await putSweepProgress({ until: at('23:45:00', 1) })
    const { reference } = debit.facts
    await reverse(reference, at('23:50:00', 1))
    const night = still({ now: () => at('00:00:01', 2) })
    await buildBatch({ provider, date: dayAt(2) }, night, () => false)
    const late = sweep(still({ now: () => at('00:05:00', 2) }))
    await gathered(() => take(late, 'sweeps', {}))
    expect(await listNewest(provider, 10)).toContainEqual({ reference, n: 3 })
  })

  test('before its events are recorded is watched until they are', async () => {
    const provider = await newProvider()
    const [debit] = await completedDebits(provider, [10_00], at('23:59:30'))
    if (!debit) throw new Error('No debit')
    const { reference } = debit.facts
    await build(provider)
    expect(await listNewest(provider, 10)).toEqual([])
    await sweepAt('00:01:29')
    expect(await listNewest(provider, 10)).not.toContainEqual({ reference, n: 2 })
    await sweepAt('00:01:30')
    expect(await listNewest(provider, 10)).toContainEqual({ reference, n: 2 })
    // Once it was found in its place, nobody looks any more.
    await sweepAt('00:30:00')
    expect(await workOf(reference)).toBeUndefined()
    expect((await listNewest(provider, 10)).filter(({ n }) => n === 2)).toHaveLength(1)
  })

  test('and was reversed then is told of as well, and is taken back', async () => {
    const provider = await newProvider()
    const [debit] = await completedDebits(provider, [10_00], at('23:59:30'))
    if (!debit) throw new Error('No debit')
    const { reference } = debit.facts
    await build(provider)
    // While it waits to be taken back, it is found where completed debits wait.
    await reverse(reference, at('00:00:30', 1))
    await putSweepProgress({ until: at('23:58:00') })
    await sweepAt('00:03:00')
    const told = await listNewest(provider, 10)
    expect(told.map(({ n }) => n).sort()).toEqual([0, 1, 2, 3])
    expect(await workOf(reference)).toBe('SETTLE 2026-11-23T00:00:30.000Z')
  })
})

describe('a batch', () => {
  const only = async (provider: ProviderId): Promise<Batch> => {
    const [batch, ...others] = await listBatchesOfDay(provider, dayAt(1))
    if (!batch || others.length > 0) throw new Error('Not one batch')
    return batch
  }

  /** What the sweep sends about the batches of a provider. */
  const sentFor = async (batch: Batch, time: string) =>
    (await sweepAt(time)).filter(
      ({ body }) => body.provider === batch.provider || body.batch === batch.id,
    )

  test.each([
    [0, 'is open'],
    [1, 'is sealed'],
    [2, 'is summed'],
    [3, 'has one of its reports'],
  ])('that was left after write %i, when it %s, is built to its end', async (write) => {
    const provider = await newProvider()
    await completedDebits(provider, [10_00, 20_00], at('09:00:00'))
    const left = meeting(killing({ write, side: 'after' }), () => build(provider))
    await expect(left).rejects.toThrow(Killed)
    expect(await sentFor(await only(provider), '00:17:00')).toEqual([])
    const sent = await sentFor(await only(provider), '00:17:01')
    expect(sent).toEqual([{ queue: 'settlements', body: { provider, date: dayAt(1) } }])
    const job = buildBatches(still({ now: () => at('00:17:02', 1) }))
    await take(job, 'settlements', sent[0]?.body ?? {})
    expect(await only(provider)).toMatchObject({
      reportedAt: at('00:17:02', 1),
      totals: { count: 2, net: 30_00 },
    })
    expect(await sentFor(await only(provider), '23:00:00')).toEqual([])
  })

  test('whose payment has no end is asked for, again and again, until it has one', async () => {
    const provider = await newProvider({ account: '1041001001' })
    await completedDebits(provider, [10_00], at('09:00:00'))
    await build(provider)
    const batch = await only(provider)
    const bank = bankBooks()
    bank.conducts.push('take its time')
    const world = {
      runtime: still({ now: () => at('12:00:00', 1) }),
      connectors: { sandbox: bank.connector, http: bank.connector },
    }
    await payBatch(batch.id, world)
    const payment = [{ queue: 'payments', body: { batch: batch.id } }]
    expect(await sentFor(batch, '12:01:59')).toEqual([])
    expect(await sentFor(batch, '12:02:00')).toEqual(payment)
    // After twice the time that it has had.
    expect(await sentFor(batch, '12:03:59')).toEqual([])
    expect(await sentFor(batch, '12:04:00')).toEqual(payment)
    expect(await sentFor(batch, '12:07:59')).toEqual([])
    expect(await sentFor(batch, '12:08:00')).toEqual(payment)
    await payBatch(batch.id, world)
    expect(await only(provider)).toMatchObject({ status: 'completed' })
    expect(await sentFor(batch, '23:59:59.999')).toEqual([])
  })
})
