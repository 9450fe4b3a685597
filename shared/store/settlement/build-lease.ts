import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { ProviderId } from '../../domain/providers/provider.ts'
import type { Day } from '../../domain/time.ts'
import type { Runtime } from '../../runtime.ts'
import { keys } from '../keys.ts'
import { conditionMet, read, table, tableName, withoutKeys } from '../table.ts'
import { dueAttributes } from '../work-index.ts'

/**
 * The turns of those who build the batches of a provider and a day. A lease keeps two of them from
 * doing the same work; the record stands until the work is done, so that the table's stream and
 * the sweep have it continued.
 */

export type BuildRecord = {
  provider: ProviderId
  date: Day
  /** The holder of the lease and its end; absent when no builder is at work. */
  holder?: string
  leaseUntil?: string
  /** How often a builder ran out of time and left the rest to another. */
  continuations: number
}

/** A worker ends within fifteen minutes, so one that holds its lease for longer has died. */
const LEASE_MS = 900_000

export type BuildLease = Required<Pick<BuildRecord, 'provider' | 'date' | 'holder'>>

/** Takes the turn to build. @returns undefined when another builder is at work */
export const acquireLease = async (
  { provider, date }: Pick<BuildRecord, 'provider' | 'date'>,
  { now, newId }: Pick<Runtime, 'now' | 'newId'>,
): Promise<BuildLease | undefined> => {
  const turn = { provider, date, holder: newId() }
  const leaseUntil = new Date(now().getTime() + LEASE_MS)
  const { work, due } = dueAttributes(provider, leaseUntil)
  const isTaken = await conditionMet(
    table.send(
      new UpdateCommand({
        TableName: tableName(),
        Key: keys.build(provider, date),
        UpdateExpression:
          'SET entity = :build, provider = :provider, #date = :date, holder = :holder, ' +
          'leaseUntil = :until, #work = :work, due = :due, ' +
          'continuations = if_not_exists(continuations, :none)',
        // A repeat after a lost answer finds its own lease.
        ConditionExpression:
          'attribute_not_exists(leaseUntil) OR leaseUntil <= :now OR holder = :holder',
        ExpressionAttributeNames: { '#date': 'date', '#work': 'work' },
        ExpressionAttributeValues: {
          ':build': 'build',
          ':provider': provider,
          ':date': date,
          ':holder': turn.holder,
          ':until': leaseUntil.toISOString(),
          ':now': now().toISOString(),
          ':work': work,
          ':due': due,
          ':none': 0,
        },
      }),
    ),
  )
  return isTaken ? turn : undefined
}

/** Ends a turn whose work is done. */
export const completeBuild = async ({ provider, date, holder }: BuildLease): Promise<void> => {
  await conditionMet(
    table.send(
      new DeleteCommand({
        TableName: tableName(),
        Key: keys.build(provider, date),
        ConditionExpression: 'holder = :holder',
        ExpressionAttributeValues: { ':holder': holder },
      }),
    ),
  )
}

/**
 * Gives back a turn whose work is not done.
 * @param isContinued has the stream send the next builder; otherwise the sweep does
 */
export const releaseLease = async (
  { provider, date, holder }: BuildLease,
  { isContinued }: { isContinued: boolean },
): Promise<void> => {
  await conditionMet(
    table.send(
      new UpdateCommand({
        TableName: tableName(),
        Key: keys.build(provider, date),
        UpdateExpression: 'SET continuations = continuations + :more REMOVE holder, leaseUntil',
        ConditionExpression: 'holder = :holder',
        ExpressionAttributeValues: { ':holder': holder, ':more': isContinued ? 1 : 0 },
      }),
    ),
  )
}

type Item = Record<string, unknown>

export const fromBuildItem = (item: Item): BuildRecord => {
  const { work, due, ...record } = withoutKeys<BuildRecord & Record<'work' | 'due', unknown>>(item)
  return record
}

/** Returns the record of a build that is not done. */
export const findBuild = async (
  provider: ProviderId,
  date: Day,
): Promise<BuildRecord | undefined> => {
  const item = await read<Item>(keys.build(provider, date))
  return item && fromBuildItem(item)
}
