import type { Debit } from '../domain/debits/debit.ts'
import type { Refund } from '../domain/debits/refund.ts'
import { isBatchId, type Reference } from '../domain/ids.ts'
import type { Batch, Line } from '../domain/settlement/batch.ts'
import type { Delivery } from '../domain/webhooks/delivery.ts'
import type { FeedEntry } from '../domain/webhooks/feed.ts'
import { groupsOf, mapConcurrent } from '../store/concurrent.ts'
import { fromDebitItem } from '../store/debits/debit-item.ts'
import { fromExceptionItem } from '../store/debits/exceptions.ts'
import { fromRefundItem } from '../store/debits/refunds.ts'
import { type Key, keys } from '../store/keys.ts'
import { findLines, linesOf } from '../store/settlement/lines.ts'
import { nameOf, readMany } from '../store/table.ts'
import { findWithDeliveries } from '../store/webhooks/deliveries.ts'
import { EXPECTED } from './lifecycle.ts'
import { type DebitRecord, isSet, type SettledRecord, type Window } from './records.ts'

/** Keys of a BatchGetItem, and calls in flight. */
const BATCH_MAX = 100
const BATCHES_AT_ONCE = 16
/** Queries of one debit each, in flight. */
const QUERIES_AT_ONCE = 32

const inBatches = async <T, R>(all: readonly T[], read: (some: readonly T[]) => Promise<R[]>) =>
  (await mapConcurrent(groupsOf(all, BATCH_MAX), BATCHES_AT_ONCE, read)).flat()

/** Lists the debits of a page of the feed that were created on the day, each once. */
export const createdOn = (entries: readonly FeedEntry[], { date }: Pick<Window, 'date'>) => {
  const day = date.replaceAll('-', '')
  const references = entries
    .filter(({ reference, n }) => n === 0 && !isBatchId(reference))
    .map(({ reference }) => reference)
    .filter((reference) => reference.split('-')[1] === day)
  return [...new Set(references)]
}

const referenceOf = ({ pk }: Record<string, unknown>) =>
  String(pk).replace('DEBIT#', '') as Reference

/** Returns the debits without an item. */
export const findMissing = async (references: readonly Reference[]): Promise<Reference[]> => {
  const items = await inBatches(references.map(keys.debit), readMany)
  const existing = new Set(items.map(referenceOf))
  return references.filter((reference) => !existing.has(reference))
}

/** Reads debits by the references in their keys; leaves out missing and unreadable ones. */
export const readDebits = async (references: readonly Reference[]) => {
  const items = await inBatches(references.map(keys.debit), readMany)
  return new Map(
    items.flatMap((item) => {
      const debit = parseDebit(item)
      return debit ? [[referenceOf(item), debit]] : []
    }),
  )
}

const parseDebit = (item: Record<string, unknown>): Debit | undefined => {
  try {
    return fromDebitItem(item)
  } catch {
    return undefined
  }
}

type FollowedDebit = { debit: Debit; deliveries: readonly Delivery[] }

/** Reads debits with their deliveries, one read unit each; leaves out missing and unreadable ones. */
export const readFollowed = async (references: readonly Reference[]) => {
  const read = await mapConcurrent(references, QUERIES_AT_ONCE, async (reference) => {
    const { debit, deliveries } = await findWithDeliveries(reference, { unreadable: () => {} })
    return debit ? [[reference, { debit, deliveries }] as const] : []
  })
  return new Map<Reference, FollowedDebit>(read.flat())
}

type ItemMap = ReadonlyMap<string, Record<string, unknown>>

const readItems = async (all: readonly Key[]): Promise<ItemMap> =>
  new Map((await inBatches(all, readMany)).map((item) => [nameOf(item), item]))

const claimOf = ({ facts }: Debit) => keys.partnerReference(facts.provider, facts.partnerReference)

/** Loads the related items of debits, strongly consistent. */
export const loadRecords = async (followed: readonly FollowedDebit[]): Promise<DebitRecord[]> => {
  const debits = followed.map(({ debit }) => debit)
  const [claims, settled] = await Promise.all([readItems(debits.map(claimOf)), loadSettled(debits)])
  return followed.map(({ debit, deliveries }, index) => ({
    ...(settled[index] as SettledRecord),
    claim: claims.get(nameOf(claimOf(debit))) as DebitRecord['claim'],
    deliveries: debit.history.map((_, n) => deliveries.find((delivery) => delivery.n === n)),
  }))
}

const findSettled = async (debits: readonly Debit[], type: Line['type']) =>
  new Map(await inBatches(debits, async (some) => [...(await findLines(some, type))]))

/** Returns the debits whose refund failed without an exception. */
export const findUnrecorded = async (refunds: readonly Refund[]): Promise<Set<Reference>> => {
  const failures = refunds.flatMap(({ reference, status, failedAt: at, uuid: requestId }) =>
    status === 'failed' && at ? { reference, at, requestId } : [],
  )
  const items = await readItems(failures.map(keys.exception))
  const missing = failures.filter((failure) => !items.has(nameOf(keys.exception(failure))))
  return new Set(missing.map(({ reference }) => reference))
}

const attachedTo = ({ facts, status, reversalRequest }: Debit) => ({
  refund: EXPECTED[status].refund === 'reversal' ? keys.refund(facts.reference) : undefined,
  request: reversalRequest && keys.exception({ ...facts, ...reversalRequest }),
})

/** Loads the lines of debits in the batches that they name, their refunds and requests. */
export const loadSettled = async (debits: readonly Debit[]): Promise<SettledRecord[]> => {
  const attached = debits.map(attachedTo)
  const [lines, adjustments, items] = await Promise.all([
    findSettled(debits, 'debit'),
    findSettled(debits, 'adjustment'),
    readItems(attached.flatMap(({ refund, request }) => [refund, request].filter(isSet))),
  ])
  const itemAt = (key: Key | undefined) => key && items.get(nameOf(key))
  return debits.map((debit, index) => {
    const { reference } = debit.facts
    const [refund, request] = [itemAt(attached[index]?.refund), itemAt(attached[index]?.request)]
    return {
      debit,
      line: lines.get(reference),
      adjustment: adjustments.get(reference),
      refund: refund && fromRefundItem(refund),
      request: request && fromExceptionItem(request),
    }
  })
}

const LINES_AT_ONCE = 2_000

export async function* linePages({ id }: Batch): AsyncGenerator<Line[]> {
  let page: Line[] = []
  for await (const line of linesOf(id)) {
    page.push(line)
    if (page.length === LINES_AT_ONCE) {
      yield page
      page = []
    }
  }
  if (page.length > 0) yield page
}

/** Loads the debits of lines. @returns the lines without a debit as `orphans` */
export const loadLineRecords = async (batch: Batch, lines: readonly Line[]) => {
  const debits = await readDebits(lines.map(({ reference }) => reference))
  const originals = await findLines(
    lines.flatMap(({ type, reference }) => {
      const debit = debits.get(reference)
      return type === 'adjustment' && debit ? [debit] : []
    }),
    'debit',
  )
  return {
    records: lines.flatMap((line) => {
      const debit = debits.get(line.reference)
      return debit ? [{ batch, line, debit, original: originals.get(line.reference) }] : []
    }),
    orphans: lines.filter(({ reference }) => !debits.has(reference)),
  }
}
