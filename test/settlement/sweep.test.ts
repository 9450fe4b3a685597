import { beforeEach, expect, test } from 'vitest'
import { refundCustomer } from '../../functions/jobs/refund-customer.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { putSweepProgress } from '../../shared/store/sweep-progress.ts'
import { put, read } from '../../shared/store/table.ts'
import { sweepOverdue } from '../../shared/sweep/overdue.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { gathered, take, useQueues } from './messages-sent.ts'
import { at, completedDebit, dayAt, newProvider, reverse, runtimeAt } from './one-provider.ts'
import { batch } from './report/one-batch.ts'
import { useReportShelf } from './report-shelf.ts'

// The progress of the sweep is in the table.
beforeEach(useFreshTable)
useQueues()
useReportShelf()

const build = (provider: ProviderId, day = 1) =>
  buildBatch({ provider, date: dayAt(day) }, runtimeAt('00:00:01', day))

/** Returns the list and the due time of a debit in the work index. */
const workOf = async (reference: Parameters<typeof keys.debit>[0]) => {
  const item = await read<Record<string, unknown>>(keys.debit(reference))
  return item?.work && `${String(item.work).split('#')[0]} ${item.due}`
}

// Consecutive sweeps overlap by a minute.
test.each([
  ['23:56:59.999', undefined],
  ['23:57:00.000', 'WATCH 2026-11-22T23:59:00.000Z'],
  ['23:59:59.999', 'WATCH 2026-11-23T00:01:59.999Z'],
])('a debit completed at %s and swept until 23:58 has the work item %s', async (time, work) => {
  const provider = await newProvider()
  await putSweepProgress({ until: at('23:58:00') })
  const { reference } = (await completedDebit(provider, 10_00, at(time))).facts
  expect(await workOf(reference)).toMatch(/^SETTLE/)
  await build(provider)
  expect(await workOf(reference)).toBe(work)
})

const BEGUN = at('00:00:05', 1)

/** Sweeps for two hours. Returns the minutes in which messages were sent, and the messages. */
const sweptTwoHours = async () => {
  const minutes: number[] = []
  const sent = new Set<string>()
  for (let minute = 0; minute <= 120; minute += 1) {
    const runtime = still({ now: () => new Date(BEGUN.getTime() + minute * 60_000) })
    const messages = await gathered(() => sweepOverdue(runtime, () => false))
    if (messages.length > 0) minutes.push(minute)
    for (const { queue, body } of messages) sent.add(`${queue} ${JSON.stringify(body)}`)
  }
  return { minutes, sent: [...sent] }
}

const DOUBLED = [2, 4, 8, 16, 32, 64]
const { id } = batch()

test.each<[string, Partial<Batch>, number[], string[]]>([
  [
    'that is in progress is sent again with doubled delays',
    { status: 'processing', processedAt: BEGUN, reportedAt: BEGUN },
    DOUBLED,
    [`payments {"batch":"${id}"}`],
  ],
  // A builder runs for up to 15 minutes.
  [
    'that is unsealed is sent again after the timeout of its function',
    { sealedAt: null, createdAt: BEGUN },
    [17, 34, 68],
    ['settlements {"provider":"demo","date":"2026-11-22"}'],
  ],
  ['that failed is not sent', { status: 'failed', failedAt: BEGUN, reportedAt: BEGUN }, [], []],
  ['that waits for the settlement run is not sent', { reportedAt: BEGUN }, [], []],
])('a lost message of a batch %s', async (_, state, minutes, sent) => {
  await put(keys.batch(id), 'batch', toBatchItem(batch(state)))
  expect(await sweptTwoHours()).toEqual({ minutes, sent })
})

test('a lost message of a refund is sent again with doubled delays until it ends', async () => {
  const debit = await completedDebit(await newProvider(), 10_00, at('09:00:00'))
  const { reference } = debit.facts
  await reverse(reference, BEGUN)
  const sent = [`refunds {"reference":"${reference}"}`]
  expect(await sweptTwoHours()).toEqual({ minutes: DOUBLED, sent })
  await take(refundCustomer(runtimeAt('03:00:00', 1)), 'refunds', { reference })
  expect(await sweptTwoHours()).toEqual({ minutes: [], sent: [] })
})
