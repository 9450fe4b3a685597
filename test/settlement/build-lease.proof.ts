import { marshall } from '@aws-sdk/util-dynamodb'
import type { Context, DynamoDBStreamEvent } from 'aws-lambda'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildBatches } from '../../functions/jobs/build-batch.ts'
import { relay } from '../../functions/jobs/relay.ts'
import { sweep } from '../../functions/jobs/sweep.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { buildWithLease } from '../../shared/settlement/lease.ts'
import { keys } from '../../shared/store/keys.ts'
import { listBatchesOfDay } from '../../shared/store/settlement/batches.ts'
import { acquireLease, findBuild, releaseLease } from '../../shared/store/settlement/build-lease.ts'
import { read } from '../../shared/store/table.ts'
import { overwrite } from '../reconciliation/one-day.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { beforeCalls, intercept, isTransaction } from './intercept.ts'
import { gathered, take, useQueues } from './messages-sent.ts'
import { at, completedDebit, dayAt, newProvider, runtimeAt } from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

beforeAll(useFreshTable)
useQueues()
useReportShelf()

const date = dayAt(1)

let provider: ProviderId
let debit: Debit
beforeEach(async () => {
  provider = await newProvider()
  debit = await completedDebit(provider, 10_00, at('09:00:00'))
})

const build = (time: string, { isInterrupted = false } = {}) =>
  buildWithLease({ provider, date, timeIsUp: () => isInterrupted }, runtimeAt(time))
const runJob = (time: string) =>
  take(buildBatches(runtimeAt(time)), 'settlements', { provider, date })
const acquire = (time: string, day = date) => acquireLease({ provider, date: day }, runtimeAt(time))

describe('the lease on the builds of a provider and day', () => {
  test('a builder writes no line while another one holds the lease', async () => {
    const rivalTransactions: number[] = []
    let rivals = 0
    const runRival = async (index: number) => {
      if (index > 0) return
      const record = beforeCalls(isTransaction, (rivalIndex) => rivalTransactions.push(rivalIndex))
      await intercept(record, () => runJob('00:00:02'))
      rivals += 1
    }
    await intercept(beforeCalls(isTransaction, runRival), () => build('00:00:01'))
    expect([rivals, rivalTransactions]).toEqual([1, []])
    expect(await listBatchesOfDay(provider, date)).toMatchObject([{ totals: { count: 1 } }])
    expect(await findBuild(provider, date)).toBeUndefined()
  })

  test('two days of a provider have separate leases', async () => {
    expect(await acquire('00:00:01')).toBeDefined()
    expect(await acquire('00:00:01', dayAt(2))).toBeDefined()
  })

  test('the lease of a crashed builder expires after fifteen minutes', async () => {
    await acquire('00:00:01')
    expect(await acquire('00:15:00')).toBeUndefined()
    expect(await acquire('00:15:01')).toBeDefined()
  })

  test('an expired lease cannot release the lease of its successor', async () => {
    const expired = await acquire('00:00:01')
    const next = await acquire('00:20:00')
    if (!expired || !next) throw new Error('No lease')
    await releaseLease(expired, { isContinued: true })
    expect(await findBuild(provider, date)).toMatchObject({ holder: next.holder, continuations: 0 })
  })

  test('a builder that fails releases its lease, and the redelivered message completes the build', async () => {
    const fail = beforeCalls(isTransaction, () => {
      throw new Error('out of order')
    })
    await expect(intercept(fail, () => build('00:00:01'))).rejects.toThrow('out of order')
    const result = await build('00:00:02')
    expect(result).toMatchObject({ isDone: true, batches: [expect.any(String)] })
  })
})

describe('a build whose time is up', () => {
  const buildItem = async () =>
    (await read<Record<string, unknown>>(keys.build(provider, date))) ?? {}
  const message = () => ({ queue: 'settlements', body: { provider, date } })

  /** Returns what the relay sends for a change of the build record. */
  const relayed = (next: object, previous?: object) => {
    const image = (item: object) => marshall(item) as never
    const dynamodb = { NewImage: image(next), ...(previous ? { OldImage: image(previous) } : {}) }
    const event = { Records: [{ dynamodb: { ...dynamodb, SequenceNumber: '1' } }] }
    return gathered(() => relay(still())(event as DynamoDBStreamEvent, {} as Context))
  }

  test('the relay sends the message that continues it', async () => {
    await build('00:00:01', { isInterrupted: true })
    const next = await buildItem()
    const previous = { ...next, continuations: 0 }
    expect(await relayed(next, previous)).toEqual([message()])
    expect(await relayed(previous)).toEqual([])
    await runJob('00:10:00')
    expect(await listBatchesOfDay(provider, date)).toMatchObject([
      { reportedAt: at('00:10:00', 1), totals: { count: 1 } },
    ])
    expect(await buildItem()).toEqual({})
  })

  test('the relay also sends it if the build has added no line', async () => {
    // The index still lists a debit that another builder has settled.
    await overwrite(keys.debit(debit.facts.reference), { settledIn: 'STL-20261122-ABC123' })
    await build('00:00:01', { isInterrupted: true })
    expect(await listBatchesOfDay(provider, date)).toEqual([])
    const next = await buildItem()
    expect(await relayed(next, { ...next, continuations: 0 })).toEqual([message()])
  })

  test('the sweep sends it if the stream record is lost', async () => {
    await build('00:00:01', { isInterrupted: true })
    const sentAt = async (time: string) => {
      const sent = await gathered(() => take(sweep(runtimeAt(time)), 'sweeps', {}))
      return sent.filter(({ body }) => body.provider === provider)
    }
    expect(await sentAt('00:17:00')).toEqual([])
    expect(await sentAt('00:17:01')).toContainEqual(message())
    await runJob('00:17:02')
    expect(await sentAt('02:00:00')).toEqual([])
  })
})
