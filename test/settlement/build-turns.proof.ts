import { marshall } from '@aws-sdk/util-dynamodb'
import type { Context, DynamoDBStreamEvent } from 'aws-lambda'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildBatches } from '../../functions/jobs/build-batch.ts'
import { relay } from '../../functions/jobs/relay.ts'
import { sweep } from '../../functions/jobs/sweep.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { buildWithLease } from '../../shared/settlement/lease.ts'
import { keys } from '../../shared/store/keys.ts'
import { listBatchesOfDay } from '../../shared/store/settlement/batches.ts'
import { acquireLease, findBuild, releaseLease } from '../../shared/store/settlement/build-lease.ts'
import { read } from '../../shared/store/table.ts'
import { damage } from '../reconciliation/one-day.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { aside, meeting } from './meeting.ts'
import { gathered, take, useQueues } from './messages-sent.ts'
import { at, completedDebits, dayAt, newProvider } from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

/** Tests that the builders of one provider and day work one after the other, to the end. */

beforeAll(useFreshTable)
useQueues()
useReportShelf()

const date = dayAt(1)
const runtimeAt = (time: string) => still({ now: () => at(time, 1) })
const work = { provider: '' as ProviderId, date }

const some = (provider: ProviderId, count: number) =>
  completedDebits(provider, Array(count).fill(10_00), at('09:00:00'))

/** How many transactions a builder writes in its turn. */
const transactionsOf = async (build: () => Promise<unknown>): Promise<number> => {
  let count = 0
  await meeting(async ({ name }, go) => {
    if (name.startsWith('TransactWrite')) count += 1
    return go()
  }, build)
  return count
}

const itemOf = (provider: ProviderId) => read<Record<string, unknown>>(keys.build(provider, date))

/** What the relay sends for a change of the record of a build. */
const relayed = (next: object, old?: object) => {
  const image = (item: object) => marshall(item) as never
  const dynamodb = { NewImage: image(next), ...(old ? { OldImage: image(old) } : {}) }
  const event = { Records: [{ dynamodb: { ...dynamodb, SequenceNumber: '1' } }] }
  return gathered(() => relay(still())(event as DynamoDBStreamEvent, {} as Context))
}

const messageFor = (provider: ProviderId) => [{ queue: 'settlements', body: { provider, date } }]

describe('a builder', () => {
  test('writes nothing while another builder of the provider and day is at work', async () => {
    const provider = await newProvider()
    await some(provider, 100)
    let rival: number | undefined
    const meet = async () => {
      rival = await transactionsOf(() =>
        take(buildBatches(runtimeAt('00:00:02')), 'settlements', { provider, date }),
      )
    }
    await meeting(
      async ({ name }, go) => {
        if (name.startsWith('TransactWrite') && rival === undefined) await aside(meet)
        return go()
      },
      () => buildWithLease({ provider, date }, runtimeAt('00:00:01'), () => false),
    )
    expect(rival).toBe(0)
    expect(await listBatchesOfDay(provider, date)).toMatchObject([{ totals: { count: 100 } }])
    expect(await findBuild(provider, date)).toBeUndefined()
  })

  test('of another day works beside it', async () => {
    const provider = await newProvider()
    expect(await acquireLease({ ...work, provider }, runtimeAt('00:00:01'))).toBeDefined()
    expect(await acquireLease({ provider, date: dayAt(2) }, runtimeAt('00:00:01'))).toBeDefined()
  })

  test('that has died is replaced after fifteen minutes', async () => {
    const provider = await newProvider()
    await acquireLease({ ...work, provider }, runtimeAt('00:00:01'))
    expect(await acquireLease({ ...work, provider }, runtimeAt('00:15:00'))).toBeUndefined()
    expect(await acquireLease({ ...work, provider }, runtimeAt('00:15:01'))).toBeDefined()
  })

  test('whose lease has expired does not end the turn of its successor', async () => {
    const provider = await newProvider()
    const dead = await acquireLease({ ...work, provider }, runtimeAt('00:00:01'))
    const next = await acquireLease({ ...work, provider }, runtimeAt('00:20:00'))
    if (!dead || !next) throw new Error('No turn')
    await releaseLease(dead, { isContinued: true })
    expect(await findBuild(provider, date)).toMatchObject({ holder: next.holder, continuations: 0 })
  })

  test('that fails gives its turn back, and its message comes again', async () => {
    const provider = await newProvider()
    await some(provider, 1)
    const failing = meeting(
      async ({ name }, go) => {
        if (name.startsWith('TransactWrite')) throw new Error('out of order')
        return go()
      },
      () => buildWithLease({ provider, date }, runtimeAt('00:00:01'), () => false),
    )
    await expect(failing).rejects.toThrow('out of order')
    const built = await buildWithLease({ provider, date }, runtimeAt('00:00:02'), () => false)
    expect(built).toMatchObject({ isDone: true, batches: [expect.any(String)] })
  })
})

describe('a builder whose time is over', () => {
  test('has the relay send the next, which builds the rest', async () => {
    const provider = await newProvider()
    await some(provider, 1)
    await buildWithLease({ provider, date }, runtimeAt('00:00:01'), () => true)
    const left = (await itemOf(provider)) ?? {}
    const before = { ...left, continuations: 0 }
    expect(await relayed(left, before)).toEqual(messageFor(provider))
    expect(await relayed(before)).toEqual([])
    await take(buildBatches(runtimeAt('00:10:00')), 'settlements', { provider, date })
    expect(await listBatchesOfDay(provider, date)).toMatchObject([
      { reportedAt: at('00:10:00', 1), totals: { count: 1 } },
    ])
    expect(await itemOf(provider)).toBeUndefined()
  })

  test('has the relay send the next also when it added no line', async () => {
    const provider = await newProvider()
    const [debit] = await some(provider, 1)
    if (!debit) throw new Error('No debit')
    // The index still shows what another builder has settled.
    const key = keys.debit(debit.facts.reference)
    await damage(key, 'SET settledIn = :batch', { batch: 'STL-20261122-ABC123' })
    await buildWithLease({ provider, date }, runtimeAt('00:00:01'), () => true)
    expect(await listBatchesOfDay(provider, date)).toEqual([])
    const left = (await itemOf(provider)) ?? {}
    expect(await relayed(left, { ...left, continuations: 0 })).toEqual(messageFor(provider))
  })

  test('is continued by the sweep when its stream record is lost', async () => {
    const provider = await newProvider()
    await some(provider, 1)
    await buildWithLease({ provider, date }, runtimeAt('00:00:01'), () => true)
    const sentAt = async (time: string) => {
      const sent = await gathered(() => take(sweep(runtimeAt(time)), 'sweeps', {}))
      return sent.filter(({ body }) => body.provider === provider)
    }
    expect(await sentAt('00:17:00')).toEqual([])
    expect(await sentAt('00:17:01')).toContainEqual(messageFor(provider)[0])
    await take(buildBatches(runtimeAt('00:17:02')), 'settlements', { provider, date })
    expect(await sentAt('02:00:00')).toEqual([])
  })
})
