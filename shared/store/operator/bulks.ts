import { defined } from '../../domain/complete.ts'
import type { BulkId, BulkOutcome } from '../../domain/operator/bulk.ts'
import { DAY_SECONDS } from '../../domain/time.ts'
import { type Key, keys } from '../keys.ts'
import * as db from '../table.ts'

/** The rows of calls about many objects, in parts, and an item per object that a call has processed. */

/** The rows of a request that expires after a day. */
const ROWS_SECONDS = 2 * DAY_SECONDS
/** Longer than the rows: a call without its outcomes would repeat them. */
const OUTCOME_SECONDS = 35 * DAY_SECONDS

export type BulkPart = {
  bulk: BulkId
  n: number
  /** The digest of its rows. */
  digest: string
  totals: Record<string, number>
}

/** Writes a part. Another operator cannot replace its rows later: the approved digest would differ. */
export const putPart = async (part: BulkPart, rows: readonly unknown[], at: Date) => {
  const { bulk, n } = part
  const expiresAt = db.expiresAt(at, ROWS_SECONDS)
  await db.put(keys.bulkRows(bulk, n), 'bulk-rows', { rows: JSON.stringify(rows), expiresAt })
  await db.put(keys.bulkPart(bulk, n), 'bulk-part', { ...part, expiresAt })
}

/** Lists the parts, in order, without their rows. */
export const listParts = async (bulk: BulkId): Promise<BulkPart[]> =>
  (await db.readCollection(keys.bulkParts(bulk))).map((item) => db.withoutKeys<BulkPart>(item))

/** Returns the stored rows as text; undefined if they have expired. */
export const findRows = ({ bulk, n }: Pick<BulkPart, 'bulk' | 'n'>): Promise<string | undefined> =>
  db.find(keys.bulkRows(bulk, n), ({ rows }) => String(rows))

/** Removes the rows of a part: they may be about customers. */
export const removeRows = ({ bulk, n }: Pick<BulkPart, 'bulk' | 'n'>): Promise<boolean> =>
  db.remove(keys.bulkRows(bulk, n))

const outcomeKey = (bulk: BulkId, object: string): Key => keys.bulkOutcome(bulk, object)

/** Returns the write that makes a call about an object its only one, for the transaction of its effect. */
export const outcomeWrite = (bulk: BulkId, object: string, outcome: BulkOutcome, at: Date) =>
  db.putWrite(
    {
      ...outcomeKey(bulk, object),
      entity: 'bulk-outcome',
      object,
      ...outcome,
      expiresAt: db.expiresAt(at, OUTCOME_SECONDS),
    },
    db.isNew,
  )

/** Records that a call leaves an object unchanged, unless it has an outcome. */
export const putOutcome = async (...outcome: Parameters<typeof outcomeWrite>): Promise<void> => {
  const { Put } = outcomeWrite(...outcome)
  await db.putIf(Put.Item, db.isNew)
}

/** Lists the outcomes by object. */
export const listOutcomes = async (bulk: BulkId): Promise<Map<string, BulkOutcome>> => {
  const items = await db.readCollection(keys.bulkOutcomes(bulk))
  return new Map(
    items.map(({ object, outcome, reason, totals }) => [
      String(object),
      defined({ outcome, reason, totals }) as BulkOutcome,
    ]),
  )
}

export const hasOutcome = async (bulk: BulkId, object: string): Promise<boolean> =>
  (await db.read(outcomeKey(bulk, object))) !== undefined
