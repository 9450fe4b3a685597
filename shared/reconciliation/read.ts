import type { Debit, Facts } from '../domain/debits/debit.ts'
import type { Refund } from '../domain/debits/refund.ts'
import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { type Batch, isBatchId, type Line } from '../domain/settlement/batch.ts'
import { dayAfter, startOf } from '../domain/time.ts'
import { fromDebitItem } from '../store/debits/debit-item.ts'
import { createdWithin } from '../store/debits/debit-lists.ts'
import { fromRefundItem } from '../store/debits/refunds.ts'
import { type Key, keys } from '../store/keys.ts'
import { fromLineItem } from '../store/settlement/batch-item.ts'
import { findLines, linesOf } from '../store/settlement/lines.ts'
import { readMany } from '../store/table.ts'
import { fromDeliveryItem } from '../store/webhooks/deliveries.ts'
import { feedPages } from '../store/webhooks/feed.ts'
import type { LineRecord } from './batch-checks.ts'
import type { DebitRecord, SettledRecord } from './related.ts'
import type { Window } from './window.ts'

/** Reads what is to be looked at, a page at a time, so that a day of any length fits. */

const PAGE_SIZE = 100

/** The debits of a provider that were created on the day, each once. */
export const createdOnDay = (
  provider: ProviderId,
  { from, before }: Window,
  known: Set<Reference>,
): AsyncGenerator<Reference[]> =>
  createdWithin(provider, { from, before, pageSize: PAGE_SIZE }, known)

/** A debit ends within ten minutes of its charge, unless an operator ends it. */
const ENDED_DAYS = 3
/** A reversal may come long after the charge. */
const REVERSED_DAYS = 90

/**
 * The debits of the days before that were completed or reversed, each once: read again, since one
 * that was charged before midnight ends after it, and its place under SETTLE may have been lost.
 */
export async function* endedEarlier(
  provider: ProviderId,
  { date, from }: Window,
  known: Set<Reference>,
): AsyncGenerator<Reference[]> {
  const recent = startOf(dayAfter(date, -ENDED_DAYS))
  const first = startOf(dayAfter(date, -REVERSED_DAYS))
  const span = { before: from, pageSize: PAGE_SIZE }
  const ended = { ...span, from: recent, statuses: ['completed', 'reversed'] as const }
  yield* createdWithin(provider, ended, known)
  yield* createdWithin(provider, { ...span, from: first, statuses: ['reversed'] }, known)
}

/** The debits of the day that the feed of events tells of, and the lists did not. */
export async function* debitsInFeed(
  provider: ProviderId,
  { from, date }: Window,
  known: Set<Reference>,
): AsyncGenerator<Reference[]> {
  const day = date.replaceAll('-', '')
  for await (const page of feedPages(provider, from)) {
    const fresh = page
      .filter(({ reference, n }) => n === 0 && !isBatchId(reference))
      .filter(({ reference }) => reference.split('-')[1] === day)
      .map(({ reference }) => reference)
      .filter((reference) => !known.has(reference))
    for (const reference of fresh) known.add(reference)
    yield [...new Set(fresh)]
  }
}

/** Debits by the references they are kept under; what cannot be read is as good as gone. */
export const readDebits = async (
  references: readonly Reference[],
): Promise<Map<Reference, Debit>> => {
  const items = await readMany([...new Set(references)].map(keys.debit))
  return new Map(
    items.flatMap((item) => {
      const debit = readable(item)
      return debit ? [[String(item.pk).replace('DEBIT#', '') as Reference, debit]] : []
    }),
  )
}

const readable = (item: Record<string, unknown>): Debit | undefined => {
  try {
    return fromDebitItem(item)
  } catch {
    return undefined
  }
}

type Found = ReadonlyMap<string, Record<string, unknown>>

const at = ({ pk, sk }: Key): string => `${pk} ${sk}`

const found = async (wanted: readonly Key[]): Promise<Found> =>
  new Map(
    (await readMany(wanted)).map((item) => [
      at({ pk: String(item.pk), sk: String(item.sk) }),
      item,
    ]),
  )

const claimOf = ({ facts }: Debit): Key =>
  keys.partnerReference(facts.provider, facts.partnerReference)

const lineKeys = ({ facts, settledIn, adjustedIn }: Debit) => ({
  line: settledIn && keys.line(settledIn, 'debit', facts.reference),
  adjustment: adjustedIn && keys.line(adjustedIn, 'adjustment', facts.reference),
})

/** Debits with all that is kept beside them, strongly consistent. */
export const loadRecords = async (debits: readonly Debit[]): Promise<DebitRecord[]> => {
  const wanted = debits.flatMap((debit) => {
    const { line, adjustment } = lineKeys(debit)
    const { reference, uuid } = debit.facts
    return [
      claimOf(debit),
      keys.uuid(uuid),
      ...debit.history.map((_, n) => keys.delivery(reference, n)),
      ...(debit.status === 'reversed' ? [keys.refund(reference)] : []),
      ...[line, adjustment].filter((key) => key !== undefined),
    ]
  })
  const items = await found(unique(wanted))
  return debits.map((debit) => seen(debit, items))
}

/** Debits with their lines alone. */
export const loadSettled = async (debits: readonly Debit[]): Promise<SettledRecord[]> => {
  const wanted = debits.flatMap((debit) => Object.values(lineKeys(debit)))
  const items = await found(wanted.flatMap((key) => key || []))
  return debits.map((debit) => ({ debit, ...linesIn(debit, items) }))
}

/** Two debits with one claim or one uuid are just what is looked for. */
const unique = (wanted: readonly Key[]): Key[] => [
  ...new Map(wanted.map((key) => [at(key), key])).values(),
]

const refundAt = (item: Record<string, unknown> | undefined): Refund | undefined =>
  item && fromRefundItem(item)

const linesIn = (debit: Debit, items: Found) => {
  const { line, adjustment } = lineKeys(debit)
  const lineAt = (key: Key | undefined): Line | undefined => {
    const item = key && items.get(at(key))
    return item && fromLineItem(item)
  }
  return { line: lineAt(line), adjustment: lineAt(adjustment) }
}

const seen = (debit: Debit, items: Found): DebitRecord => {
  return {
    debit,
    ...linesIn(debit, items),
    claimedBy: items.get(at(claimOf(debit)))?.reference as Reference | undefined,
    pointer: items.get(at(keys.uuid(debit.facts.uuid))) as Partial<Facts> | undefined,
    deliveries: debit.history.map((_, n) => {
      const item = items.get(at(keys.delivery(debit.facts.reference, n)))
      return item && fromDeliveryItem(item)
    }),
    refund: refundAt(items.get(at(keys.refund(debit.facts.reference)))),
  }
}

/** The lines of a batch, in pages. */
export async function* linePages({ id }: Batch): AsyncGenerator<Line[]> {
  let page: Line[] = []
  for await (const line of linesOf(id)) {
    page.push(line)
    if (page.length === PAGE_SIZE) {
      yield page
      page = []
    }
  }
  if (page.length > 0) yield page
}

/** Lines with their debits, and those whose debit is not there. */
export const loadLineRecords = async (
  batch: Batch,
  lines: readonly Line[],
): Promise<{ seen: LineRecord[]; orphans: Line[] }> => {
  const debits = await readDebits(lines.map(({ reference }) => reference))
  const originals = await findLines(
    lines.flatMap(({ type, reference }) => {
      const settledIn = debits.get(reference)?.settledIn
      return type === 'adjustment' && settledIn ? [{ batch: settledIn, reference }] : []
    }),
  )
  return {
    seen: lines.flatMap((line) => {
      const debit = debits.get(line.reference)
      return debit ? [{ batch, line, debit, original: originals.get(line.reference) }] : []
    }),
    orphans: lines.filter(({ reference }) => !debits.has(reference)),
  }
}
