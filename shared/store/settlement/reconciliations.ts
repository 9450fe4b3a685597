import type { ProviderId } from '../../domain/providers/provider.ts'
import { DAY_SECONDS, type Day, secondsAfter } from '../../domain/time.ts'
import type { Jitter } from '../../runtime.ts'
import { groupsOf, mapConcurrent } from '../concurrent.ts'
import { keys } from '../keys.ts'
import { fromStored, toStored } from '../stored.ts'
import * as db from '../table.ts'
import { transact } from '../transactions.ts'
import { dueAttributes } from '../work-index.ts'

/**
 * Runs of the reconciliation and their parts (docs/architecture.md#reconciliation). The stream starts
 * the parts of a nightly run; an operator's run does its parts itself.
 */

/** A longer run is late: its day is not verified when the banks open. */
export const RUN_HOURS_MAX = 6

export type ReconciliationRun = {
  /** The day, and for an operator's run `#` and an id. */
  id: string
  date: Day
  startedAt: Date
  /** Up to a thousand, else none: {@link findProviders} reads them from pages. */
  providers: readonly ProviderId[]
  pages?: { id: string; count: number }
  /** The last day with stored ledger balances; null: none. */
  carriedFrom: Day | null
  /** The parts that have no result yet. */
  openParts: number
  endedAt: Date | null
  /** The SHA-256 of the audit object of its day. Absent: not sealed yet. */
  sealed?: string
  /** Those of all objects that were written for its day: after a failover each Region's bucket has one. */
  seals?: readonly string[]
}

export type ReconciliationPart = {
  /** Parts sort by it in the order of their findings: a provider, then `#` and a number per split. */
  id: string
  /** The run. */
  run: string
  /** JSON of the tasks to perform. */
  tasks: string
  /** JSON of what they found; absent: not performed yet. */
  findings?: string
}

const isNightly = (run: string): boolean => !run.includes('#')

/** The longest call of the function that performs a part. */
const PART_SECONDS = 900
const RETENTION_SECONDS = 35 * DAY_SECONDS

/** Only items of nightly runs have an entity, which selects them for the stream, and are swept. */
const nightly = (run: string, at: Date, attributes: object) => ({
  ...(isNightly(run) && attributes),
  expiresAt: db.expiresAt(at, RETENTION_SECONDS),
})

export const fromRunItem = (item: db.Item) =>
  fromStored<ReconciliationRun>(db.withoutKeys(item), { startedAt: true, endedAt: true })

export const fromPartItem = (item: db.Item) => db.withoutKeys<ReconciliationPart>(item)

const partItem = (part: ReconciliationPart, at: Date) => {
  const key = keys.reconciliationPart(part.run, part.id)
  const work = dueAttributes(key, secondsAfter(at, PART_SECONDS), part.id)
  return { ...key, ...nightly(part.run, at, { entity: 'reconciliation-part', ...work }), ...part }
}

export const findRun = (id: string): Promise<ReconciliationRun | undefined> =>
  db.find(keys.reconciliation(id), fromRunItem)

export const findPart = (run: string, id: string): Promise<ReconciliationPart | undefined> =>
  db.find(keys.reconciliationPart(run, id), fromPartItem)

/** Provider ids in one item, of 45 bytes at most. */
const PROVIDERS_MAX = 1_000
const PAGES_AT_ONCE = 10

const pageKeys = (run: string, { id, count }: { id: string; count: number }) =>
  Array.from({ length: count }, (_, n) => keys.reconciliationProviders(run, `${id}#${n}`))

/**
 * Creates a run without its parts.
 * @param pagesId tells its pages from those of another worker that creates it
 * @returns the stored run; undefined when it exists
 */
export const createRun = async (
  all: ReconciliationRun,
  pagesId: string,
): Promise<ReconciliationRun | undefined> => {
  const { id, startedAt, providers } = all
  const isPaged = providers.length > PROVIDERS_MAX
  const groups = groupsOf(providers, PROVIDERS_MAX)
  const pages = { id: pagesId, count: groups.length }
  const run = isPaged ? { ...all, providers: [], pages } : all
  if (isPaged) {
    const expiresAt = db.expiresAt(startedAt, RETENTION_SECONDS)
    await mapConcurrent([...pageKeys(id, pages).entries()], PAGES_AT_ONCE, ([n, key]) =>
      db.put(key, 'reconciliation-providers', { ids: groups[n], expiresAt }),
    )
  }
  const key = keys.reconciliation(id)
  const work = dueAttributes(key, secondsAfter(startedAt, PART_SECONDS))
  const item = nightly(id, startedAt, { entity: 'reconciliation', ...work })
  const isCreated = await db.putIf({ ...key, ...item, ...toStored(run) }, db.isNew)
  return isCreated ? run : undefined
}

/** Reads the providers that existed when the run was created. */
export const findProviders = async ({
  id,
  providers,
  pages,
}: ReconciliationRun): Promise<readonly ProviderId[]> => {
  if (!pages) return providers
  const stored = await mapConcurrent(
    pageKeys(id, pages),
    PAGES_AT_ONCE,
    db.read<{ ids: ProviderId[] }>,
  )
  if (stored.includes(undefined)) throw new Error(`Run ${id} has lost its providers`)
  return stored.flatMap((page) => page?.ids ?? [])
}

/** Creates a part, unless it exists. */
export const createPart = async (part: ReconciliationPart, at: Date): Promise<void> => {
  await db.putIf(partItem(part, at), db.isNew)
}

/**
 * Stores what a part found, and creates the parts that continue it, in one transaction, which counts
 * the open parts of the run.
 * @param rest at most 97 parts
 * @returns false when another worker has stored the part
 */
export const completePart = (
  { run, id }: Pick<ReconciliationPart, 'run' | 'id'>,
  { findings, rest }: { findings: string; rest: readonly ReconciliationPart[] },
  { now, ...runtime }: Jitter & { now: () => Date },
): Promise<boolean> => {
  const completion = db.updateWrite(keys.reconciliationPart(run, id), {
    UpdateExpression: 'SET findings = :findings REMOVE #work, due',
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(findings)',
    ExpressionAttributeNames: { '#work': 'work' },
    ExpressionAttributeValues: { ':findings': findings },
  })
  const count = db.updateWrite(keys.reconciliation(run), {
    UpdateExpression: 'ADD openParts :more',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':more': rest.length - 1 },
  })
  const created = rest.map((part) => db.putWrite(partItem(part, now()), db.isNew))
  return transact([completion, count, ...created], runtime)
}

/** Marks a run as ended; its work is done once its day is sealed. @returns false when it was before */
export const endRun = ({ id }: ReconciliationRun, at: Date): Promise<boolean> =>
  db.updateIf(keys.reconciliation(id), {
    UpdateExpression: 'SET endedAt = :at',
    ConditionExpression: 'endedAt = :not',
    ExpressionAttributeValues: { ':at': at.toISOString(), ':not': null },
  })

/**
 * Ends the work of a run.
 * @param sha256 of the audit object of its day; undefined if the day precedes the first sealed one
 */
export const markSealed = (id: string, sha256: string | undefined): Promise<boolean> =>
  db.updateIf(keys.reconciliation(id), {
    UpdateExpression: `${sha256 ? 'SET sealed = :sha256 ' : ''}REMOVE #work, due`,
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeNames: { '#work': 'work' },
    ...(sha256 && { ExpressionAttributeValues: { ':sha256': sha256 } }),
  })

/** Adds the SHA-256 of an object of a day, if the day has a run. */
export const addSeal = (id: string, sha256: string): Promise<boolean> =>
  db.updateIf(keys.reconciliation(id), {
    UpdateExpression: 'SET seals = list_append(if_not_exists(seals, :none), :one)',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':none': [], ':one': [sha256] },
  })

/** Reads all parts of a run in the order of their findings, strongly consistent. */
export async function* partsOf(run: string): AsyncGenerator<ReconciliationPart> {
  const { pk, sk } = keys.reconciliationPart(run, '')
  for await (const items of db.queryPages(db.collectionQuery({ pk, prefix: sk }))) {
    yield* items.map(fromPartItem)
  }
}
