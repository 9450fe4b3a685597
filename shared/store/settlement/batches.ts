import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import type { ProviderId } from '../../domain/providers/provider.ts'
import {
  BATCH_PREFIX,
  type Batch,
  type BatchId,
  isOpenBatch,
  openBatch,
  payoutUuid,
  readBatchId,
} from '../../domain/settlement/batch.ts'
import type { FeeSchedule } from '../../domain/settlement/fee-schedule.ts'
import { takenFromCash } from '../../domain/settlement/payment.ts'
import { type Day, fromIso } from '../../domain/time.ts'
import type { Runtime } from '../../runtime.ts'
import { keys, sha256 } from '../keys.ts'
import { currentGeneration } from '../operator/restores.ts'
import { conditionMet, queryAll, read, readMany, table, tableName, type Write } from '../table.ts'
import { failedConditions, withConflictRetries } from '../transactions.ts'
import { fromBatchItem, toBatchItem } from './batch-item.ts'
import { fundsChange } from './funding.ts'

export const findBatch = async (id: BatchId): Promise<Batch | undefined> => {
  const item = await read<Record<string, unknown>>(keys.batch(id))
  return item && fromBatchItem(item)
}

/** The same, for a provider: what belongs to another, or can be no batch, does not exist. */
export const findProviderBatch = async (
  provider: ProviderId,
  id: string | undefined,
): Promise<Batch | undefined> => {
  const named = readBatchId(id)
  const batch = named && (await findBatch(named))
  return batch?.provider === provider ? batch : undefined
}

const ID_LENGTH = 6

type Place = { provider: ProviderId; date: Day; n: number; generation: number }

/**
 * The id of a place for a batch: a function of provider, day and number, so that two runs at once
 * find the same one; and of the generation, so that no batch of a restored table takes the id of
 * one that was lost.
 * @param salt tells it from the place of another provider that happens to have the same
 */
const idOf = ({ provider, date, n, generation }: Place, salt: number): BatchId => {
  const suffixed = generation > 1 ? `#${generation}` : ''
  const place = sha256(`${provider}#${date}#${n}#${salt}${suffixed}`)
  const digits = BigInt(`0x${Buffer.from(place, 'base64url').toString('hex')}`)
  const suffix = digits.toString(36).toUpperCase().slice(-ID_LENGTH)
  return `${BATCH_PREFIX}-${date.replaceAll('-', '')}-${suffix}` as BatchId
}

/** The batch that has a place, or the id for a new one. */
const findAt = async (place: Place): Promise<Batch | BatchId> => {
  for (let salt = 0; ; salt += 1) {
    const id = idOf(place, salt)
    const found = await findBatch(id)
    if (!found) return id
    if (found.provider === place.provider && found.n === place.n) return found
  }
}

/** Returns the batch of a number in any generation, or the id for a new one in the current generation. */
const findNumbered = async (place: Place): Promise<Batch | BatchId> => {
  for (let generation = 1; ; generation += 1) {
    const found = await findAt({ ...place, generation })
    if (typeof found === 'object' || generation >= place.generation) return found
  }
}

/** A batch that takes lines; a new one comes to be with its first. */
export type Building = { batch: Batch; isNew: boolean }

type Opening = { provider: ProviderId; date: Day; feeSchedule: FeeSchedule | null }

/**
 * Returns the batch of a provider and a day that takes lines, or the place for one.
 * @param feeSchedule the provider's, for a new batch
 */
export const findOpenBatch = async (
  { provider, date, feeSchedule }: Opening,
  { now }: Pick<Runtime, 'now'>,
): Promise<Building> => {
  const createdAt = now()
  const generation = await currentGeneration(createdAt)
  for (let n = 1; ; n += 1) {
    const found = await findNumbered({ provider, date, n, generation: generation ?? 1 })
    if (typeof found === 'string') {
      const uuid = payoutUuid(found, 1)
      const opening = { id: found, uuid, provider, date, n, createdAt, feeSchedule }
      return { batch: openBatch(generation ? { ...opening, generation } : opening), isNew: true }
    }
    if (isOpenBatch(found)) return { batch: found, isNew: false }
  }
}

/**
 * Writes the header of a batch as it has become, if it stands as it was read. Lines may be on
 * their way into it meanwhile; then it is written after them.
 * @returns undefined when another worker was first
 */
export const replaceBatch = async (
  before: Batch,
  after: Batch,
  runtime: Pick<Runtime, 'random' | 'pause'>,
): Promise<Batch | undefined> => {
  const next = { ...after, version: before.version + 1 }
  const write = () => table.send(new PutCommand(replacement(before, next)))
  return (await conditionMet(withConflictRetries(runtime, write))) ? next : undefined
}

const replacement = (before: Batch, next: Batch) => ({
  TableName: tableName(),
  Item: toBatchItem(next),
  ConditionExpression: '#version = :before',
  ExpressionAttributeNames: { '#version': 'version' },
  ExpressionAttributeValues: { ':before': before.version },
})

/** Whether batches were written, or why not. */
export type Written = 'written' | 'changed' | 'not covered'

type Together = {
  /** Rejects the writes unless the cash that banks have remitted covers the payouts that begin. */
  isCovered?: boolean
  /** Writes in the same transaction, such as the record of an operator's change. */
  alongside?: readonly Write[]
}

/**
 * The same for batches that go together: all or none. At most a hundred writes. Payouts that begin
 * take from the cash that banks have remitted, and payouts that fail give it back.
 */
export const replaceBatches = async (
  pairs: readonly { before: Batch; after: Batch }[],
  runtime: Pick<Runtime, 'random' | 'pause'>,
  { isCovered = false, alongside = [] }: Together = {},
): Promise<Written> => {
  const replaced = pairs.map(({ before, after }) => ({
    Put: replacement(before, { ...after, version: before.version + 1 }),
  }))
  const cash = pairs.reduce(
    (sum, { before, after }) => sum + takenFromCash(before) - takenFromCash(after),
    0,
  )
  const funds = cash === 0 ? [] : [fundsChange(cash, { isCovered })]
  const TransactItems = [...replaced, ...funds, ...alongside]
  try {
    const write = () => table.send(new TransactWriteCommand({ TransactItems }))
    await withConflictRetries(runtime, write)
    return 'written'
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error
    const failed = failedConditions(error)
    if (!failed.includes(true)) throw error
    return failed.slice(0, pairs.length).includes(true) ? 'changed' : 'not covered'
  }
}

/** The batches of a provider, the newest first; from an index, so a new one shows a little late. */
export const listBatches = async (
  provider: ProviderId,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<Batch[]> => {
  const found = await queryAll({
    IndexName: 'by-status',
    KeyConditionExpression: before ? 'byStatus = :list AND byTime < :before' : 'byStatus = :list',
    ExpressionAttributeValues: {
      ':list': keys.batches(provider),
      ...(before ? { ':before': before } : {}),
    },
    ScanIndexForward: false,
    Limit: limit,
  })
  return findBatches(found.map(({ pk }) => idFrom(pk)))
}

/** The batches of a provider since a day. */
export const listBatchesFrom = async (provider: ProviderId, from: Day): Promise<Batch[]> => {
  const found = await queryAll({
    IndexName: 'by-status',
    KeyConditionExpression: 'byStatus = :list AND byTime >= :from',
    ExpressionAttributeValues: { ':list': keys.batches(provider), ':from': `${from}#` },
  })
  return findBatches(found.map(({ pk }) => idFrom(pk)))
}

/** The batches of a provider and a day. */
export const listBatchesOfDay = async (provider: ProviderId, date: Day): Promise<Batch[]> => {
  const found = await queryAll({
    IndexName: 'by-status',
    KeyConditionExpression: 'byStatus = :list AND begins_with(byTime, :date)',
    ExpressionAttributeValues: { ':list': keys.batches(provider), ':date': `${date}#` },
  })
  return findBatches(found.map(({ pk }) => idFrom(pk)))
}

/** A batch by its times, as an index shows it, which may be late. */
export type BatchTimes = Pick<Batch, 'id' | 'date' | 'completedFrom' | 'sealedAt' | 'completedAt'>

/** Every batch of a provider, the oldest first, without reading their headers. */
export const listBatchTimes = async (provider: ProviderId): Promise<BatchTimes[]> => {
  const found = await queryAll({
    IndexName: 'by-status',
    KeyConditionExpression: 'byStatus = :list',
    ExpressionAttributeValues: { ':list': keys.batches(provider) },
  })
  return found.map(({ pk, byTime, completedFrom, sealedAt, completedAt }) => ({
    id: idFrom(pk),
    date: String(byTime).slice(0, DAY_LENGTH) as Day,
    completedFrom: (completedFrom as Day | undefined) ?? null,
    sealedAt: fromIso((sealedAt ?? null) as string | null),
    completedAt: fromIso((completedAt ?? null) as string | null),
  }))
}

const DAY_LENGTH = 'YYYY-MM-DD'.length

const idFrom = (pk: unknown): BatchId => String(pk).split('#')[1] as BatchId

/** Batches by their ids, in that order. */
export const findBatches = async (ids: readonly BatchId[]): Promise<Batch[]> => {
  const items = await readMany(ids.map(keys.batch))
  const found = new Map(items.map(fromBatchItem).map((batch) => [batch.id, batch]))
  return ids.flatMap((id) => found.get(id) ?? [])
}

const inWork = async (work: string, until: Date): Promise<BatchId[]> => {
  const found = await queryAll({
    IndexName: 'work',
    KeyConditionExpression: '#work = :work AND due <= :until',
    ExpressionAttributeNames: { '#work': 'work' },
    ExpressionAttributeValues: { ':work': work, ':until': until.toISOString() },
  })
  return found.map(({ pk }) => idFrom(pk))
}

/** Sealed batches that are to be paid by a time, in the order of their days. */
export const listPayable = (until: Date): Promise<BatchId[]> => inWork(keys.payable, until)

/** Failed batches, until an operator retries their payment. */
export const listFailed = (until: Date): Promise<BatchId[]> => inWork(keys.failedBatches, until)

/** Batches of a provider whose net is below zero, opened by a time: a later one makes them good. */
export const listBelowZero = async (provider: ProviderId, until: Date): Promise<Batch[]> =>
  findBatches(await inWork(keys.belowZero(provider), until))
