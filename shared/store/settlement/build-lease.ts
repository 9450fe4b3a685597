import type { ProviderId } from '../../domain/providers/provider.ts'
import { type Day, secondsAfter } from '../../domain/time.ts'
import type { Runtime } from '../../runtime.ts'
import { keys } from '../keys.ts'
import * as db from '../table.ts'
import { dueAttributes } from '../work-index.ts'

/**
 * The lease of the builder of a provider's batches of a day. The record exists until the work is done,
 * so that the table's stream and the sweep continue it.
 */

export type BuildRecord = {
  provider: ProviderId
  date: Day
  /** The holder of the lease and its end; absent when no builder works. */
  holder?: string
  leaseUntil?: string
  /** Times a builder hit its time limit and another one continued. */
  continuations: number
}

/** A worker ends within fifteen minutes, so a holder beyond that has crashed. */
const LEASE_SECONDS = 900

export type BuildLease = Required<Pick<BuildRecord, 'provider' | 'date' | 'holder'>>

/** Acquires the lease. Returns undefined when another builder holds it. */
export const acquireLease = async (
  { provider, date }: Pick<BuildRecord, 'provider' | 'date'>,
  { now, newId }: Pick<Runtime, 'now' | 'newId'>,
): Promise<BuildLease | undefined> => {
  const lease = { provider, date, holder: newId() }
  const leaseUntil = secondsAfter(now(), LEASE_SECONDS)
  const { work, due } = dueAttributes(provider, leaseUntil)
  const isAcquired = await db.updateIf(keys.build(provider, date), {
    UpdateExpression:
      'SET entity = :build, provider = :provider, #date = :date, holder = :holder, ' +
      'leaseUntil = :until, #work = :work, due = :due, ' +
      'continuations = if_not_exists(continuations, :none)',
    // A repeated write after a lost response finds its own lease.
    ConditionExpression:
      'attribute_not_exists(leaseUntil) OR leaseUntil <= :now OR holder = :holder',
    ExpressionAttributeNames: { '#date': 'date', '#work': 'work' },
    ExpressionAttributeValues: {
      ':build': 'build',
      ':provider': provider,
      ':date': date,
      ':holder': lease.holder,
      ':until': leaseUntil.toISOString(),
      ':now': now().toISOString(),
      ':work': work,
      ':due': due,
      ':none': 0,
    },
  })
  return isAcquired ? lease : undefined
}

export const completeBuild = async ({ provider, date, holder }: BuildLease): Promise<void> => {
  await db.remove(keys.build(provider, date), {
    ConditionExpression: 'holder = :holder',
    ExpressionAttributeValues: { ':holder': holder },
  })
}

/** @param isContinued makes the stream start the next builder; otherwise the sweep does */
export const releaseLease = async (
  { provider, date, holder }: BuildLease,
  { isContinued }: { isContinued: boolean },
): Promise<void> => {
  await db.updateIf(keys.build(provider, date), {
    UpdateExpression: 'SET continuations = continuations + :more REMOVE holder, leaseUntil',
    ConditionExpression: 'holder = :holder',
    ExpressionAttributeValues: { ':holder': holder, ':more': isContinued ? 1 : 0 },
  })
}

export const fromBuildItem = (item: db.Item): BuildRecord => db.withoutKeys<BuildRecord>(item)

export const findBuild = (provider: ProviderId, date: Day): Promise<BuildRecord | undefined> =>
  db.find(keys.build(provider, date), fromBuildItem)
