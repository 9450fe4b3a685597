import { BATCH_PREFIX, type BatchId, readBatchId } from '../../domain/ids.ts'
import type { FeeSchedule } from '../../domain/providers/fee-schedule.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { type Batch, isOpenBatch, openBatch, payoutUuid } from '../../domain/settlement/batch.ts'
import { takenFromCash } from '../../domain/settlement/payment.ts'
import { type Day, fromIso, type Month } from '../../domain/time.ts'
import type { Jitter, Runtime } from '../../runtime.ts'
import { keys, sha256 } from '../keys.ts'
import { currentGeneration } from '../operator/restores.ts'
import * as db from '../table.ts'
import { transactWrites } from '../transactions.ts'
import { workQuery } from '../work-index.ts'
import { fromBatchItem, toBatchItem } from './batch-item.ts'
import { fundsChange } from './funding.ts'

export const findBatch = (id: BatchId) => db.find(keys.batch(id), fromBatchItem)

/** Reads a batch of a provider. Batches of other providers do not exist (docs/api.md#not-found). */
export const findProviderBatch = async (provider: ProviderId, id: string | undefined) => {
  const batchId = readBatchId(id)
  const batch = batchId && (await findBatch(batchId))
  return batch?.provider === provider ? batch : undefined
}

const ID_LENGTH = 6

type Place = { provider: ProviderId; date: Day; n: number; generation: number }

/**
 * Derives the id of a batch from provider, day and number, so that concurrent runs find the same
 * batch. The generation keeps a restored table from reusing the id of a lost batch.
 * @param salt avoids an id that another provider has by chance
 */
const idOf = ({ provider, date, n, generation }: Place, salt: number): BatchId => {
  const suffixed = generation > 1 ? `#${generation}` : ''
  const place = sha256(`${provider}#${date}#${n}#${salt}${suffixed}`)
  const digits = BigInt(`0x${Buffer.from(place, 'base64url').toString('hex')}`)
  const suffix = digits.toString(36).toUpperCase().slice(-ID_LENGTH)
  return `${BATCH_PREFIX}-${date.replaceAll('-', '')}-${suffix}` as BatchId
}

type PlaceLookup = { kind: 'batch'; batch: Batch } | { kind: 'free id'; id: BatchId }

const findAt = async (place: Place): Promise<PlaceLookup> => {
  for (let salt = 0; ; salt += 1) {
    const id = idOf(place, salt)
    const batch = await findBatch(id)
    if (!batch) return { kind: 'free id', id }
    const isHere = batch.provider === place.provider && batch.n === place.n
    if (isHere) return { kind: 'batch', batch }
  }
}

/** Finds the batch of a number in any generation, or an id of the current generation. */
const findNumbered = async (place: Place): Promise<PlaceLookup> => {
  for (let generation = 1; ; generation += 1) {
    const lookup = await findAt({ ...place, generation })
    if (lookup.kind === 'batch' || generation >= place.generation) return lookup
  }
}

/** An open batch. A new one is written with its first lines. */
export type Building = { batch: Batch; isNew: boolean }

type BatchRequest = { provider: ProviderId; date: Day; feeSchedule: FeeSchedule | null }

/** Returns the open batch of a provider and a day, or a new one with the given fee schedule. */
export const findOpenBatch = async (
  { provider, date, feeSchedule }: BatchRequest,
  { now }: Pick<Runtime, 'now'>,
): Promise<Building> => {
  const createdAt = now()
  const generation = await currentGeneration(createdAt)
  for (let n = 1; ; n += 1) {
    const lookup = await findNumbered({ provider, date, n, generation: generation ?? 1 })
    if (lookup.kind === 'free id') {
      const { id } = lookup
      const uuid = payoutUuid(id, 1)
      const facts = { id, uuid, provider, date, n, createdAt, feeSchedule }
      return { batch: openBatch(generation ? { ...facts, generation } : facts), isNew: true }
    }
    if (isOpenBatch(lookup.batch)) return { batch: lookup.batch, isNew: false }
  }
}

/** Replaces the header of a batch. @returns undefined when another worker was first */
export const replaceBatch = async (previous: Batch, batch: Batch) => {
  const next = { ...batch, version: previous.version + 1 }
  const { Item, ...condition } = replacement(previous, next).Put
  return (await db.putIf(Item, condition)) ? next : undefined
}

const replacement = (previous: Batch, next: Batch) =>
  db.putWrite(toBatchItem(next), db.hasVersion(previous.version))

/** `changed`: another worker was first; `not covered`: the remitted cash is not enough. */
/** `recorded`: another worker of the granted call was first, as a write alongside shows. */
type ReplaceResult = { kind: 'written' | 'changed' | 'not covered' | 'recorded' }

type WriteOptions = {
  /** Rejects the writes unless the remitted cash covers the payouts that begin. */
  isCovered?: boolean
  /** Writes in the same transaction, such as the record of an operator's change. */
  alongside?: readonly db.Write[]
}

/**
 * Replaces up to a hundred batches in one transaction. Payouts that begin take from the remitted cash,
 * and payouts that fail return it.
 */
export const replaceBatches = async (
  pairs: readonly { previous: Batch; next: Batch }[],
  { isCovered = false, alongside = [] }: WriteOptions,
  runtime: Jitter,
): Promise<ReplaceResult> => {
  const replaced = pairs.map(({ previous, next }) =>
    replacement(previous, { ...next, version: previous.version + 1 }),
  )
  const cash = pairs.reduce(
    (sum, { previous, next }) => sum + takenFromCash(previous) - takenFromCash(next),
    0,
  )
  const funds = cash === 0 ? [] : [fundsChange(cash, { isCovered })]
  const failed = await transactWrites([...replaced, ...funds, ...alongside], runtime)
  if (failed.length === 0) return { kind: 'written' }
  if (failed.slice(0, pairs.length).includes(true)) return { kind: 'changed' }
  const isUncovered = funds.length > 0 && failed[pairs.length]
  return { kind: isUncovered ? 'not covered' : 'recorded' }
}

export const idFrom = (pk: unknown): BatchId => String(pk).split('#')[1] as BatchId

const readListed = async (query: db.QueryInput): Promise<Batch[]> =>
  findBatches((await db.queryAll(query)).map(({ pk }) => idFrom(pk)))

/** Lists the batches of a provider, the newest first. The index may lag. */
export const listBatches = (
  provider: ProviderId,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<Batch[]> => {
  const list = keys.batches(provider)
  const query = before
    ? db.statusQuery(list, 'byTime < :before', { ':before': before })
    : db.statusQuery(list)
  return readListed({ ...query, ScanIndexForward: false, Limit: limit })
}

export const listBatchesFrom = (provider: ProviderId, from: Day): Promise<Batch[]> =>
  readListed(db.statusQuery(keys.batches(provider), 'byTime >= :day', { ':day': `${from}#` }))

const listBeginning = (provider: ProviderId, start: string): Promise<Batch[]> =>
  readListed(
    db.statusQuery(keys.batches(provider), 'begins_with(byTime, :start)', { ':start': start }),
  )

export const listBatchesOfDay = (provider: ProviderId, date: Day): Promise<Batch[]> =>
  listBeginning(provider, `${date}#`)

/** Lists the batches of a provider whose day is in a month, the oldest first. The index may lag. */
export const listBatchesOfMonth = (provider: ProviderId, month: Month): Promise<Batch[]> =>
  listBeginning(provider, `${month}-`)

/** The times of a batch, from the index, which may lag. */
export type BatchTimes = Pick<Batch, 'id' | 'date' | 'completedFrom' | 'sealedAt' | 'completedAt'>

/** Lists the times of all batches of a provider, the oldest first, without reading their headers. */
export const listBatchTimes = async (provider: ProviderId): Promise<BatchTimes[]> => {
  const entries = await db.queryAll(db.statusQuery(keys.batches(provider)))
  return entries.map(({ pk, byTime, completedFrom, sealedAt, completedAt }) => ({
    id: idFrom(pk),
    date: String(byTime).slice(0, DAY_LENGTH) as Day,
    completedFrom: (completedFrom as Day | undefined) ?? null,
    sealedAt: fromIso((sealedAt ?? null) as string | null),
    completedAt: fromIso((completedAt ?? null) as string | null),
  }))
}

const DAY_LENGTH = 'YYYY-MM-DD'.length

/** Lists the batches of a provider that are not paid, the oldest first. */
export const listUnpaid = async (provider: ProviderId): Promise<Batch[]> => {
  const isUnpaid = ({ completedAt }: Pick<Batch, 'completedAt'>): boolean => completedAt === null
  const times = await listBatchTimes(provider)
  // The index may lag.
  return (await findBatches(times.filter(isUnpaid).map(({ id }) => id))).filter(isUnpaid)
}

/** Reads batches in the order of their ids. */
export const findBatches = async (ids: readonly BatchId[]): Promise<Batch[]> => {
  const items = await db.readMany(ids.map(keys.batch))
  const batches = new Map(items.map(fromBatchItem).map((batch) => [batch.id, batch]))
  return ids.flatMap((id) => batches.get(id) ?? [])
}

const inWork = async (work: string, until: Date): Promise<BatchId[]> => {
  const query = workQuery(work, 'due <= :until', { ':until': until.toISOString() })
  const entries = await db.queryAll(query)
  return entries.map(({ pk }) => idFrom(pk))
}

/** Lists the sealed batches that can be paid by a time, in the order of their days. */
export const listPayable = (until: Date): Promise<BatchId[]> => inWork(keys.payable, until)

/** Lists the batches whose payment failed and has not been retried. */
export const listFailed = (until: Date): Promise<BatchId[]> => inWork(keys.failedBatches, until)

/** Lists the batches of a provider with a net below zero that were opened by a time. */
export const listBelowZero = (provider: ProviderId, until: Date): Promise<BatchId[]> =>
  inWork(keys.belowZero(provider), until)
