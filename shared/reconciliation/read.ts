import type { Debit } from '../domain/debits/debit.ts'
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
import { keyOf, readMany } from '../store/table.ts'
import { deliveriesIn, deliveryKeys } from '../store/webhooks/deliveries.ts'
import { feedPages } from '../store/webhooks/feed.ts'
import type { DebitRecord, SettledRecord, Window } from './records.ts'

const PAGE_SIZE = 100

/** A debit ends within ten minutes, unless an operator ends it. */
const ENDED_DAYS = 3
const REVERSED_DAYS = 90

/**
 * Yields pages of the completed and reversed debits of earlier days, each once: one charged before midnight
 * ends after it, and its entry in the work index may be lost.
 */
export async function* endedEarlier(
  provider: ProviderId,
  { date, from }: Window,
  known: Set<Reference>,
): AsyncGenerator<Reference[]> {
  const recent = startOf(dayAfter(date, -ENDED_DAYS))
  const first = startOf(dayAfter(date, -REVERSED_DAYS))
  const span = { before: from, pageSize: PAGE_SIZE }
  const ended = { ...span, from: recent, lists: ['good', 'reversed'] as const }
  yield* createdWithin(provider, ended, known)
  yield* createdWithin(provider, { ...span, from: first, lists: ['reversed'] }, known)
}

/** Yields pages of debits of the day that are in the event feed and were not in the lists. */
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

/** Reads debits by the references in their keys; leaves out missing and unreadable ones. */
export const readDebits = async (references: readonly Reference[]) => {
  const items = await readMany(references.map(keys.debit))
  return new Map(
    items.flatMap((item) => {
      const debit = parseDebit(item)
      return debit ? [[String(item.pk).replace('DEBIT#', '') as Reference, debit]] : []
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

type ItemMap = ReadonlyMap<string, Record<string, unknown>>

const textOf = ({ pk, sk }: Key): string => `${pk} ${sk}`

const readItems = async (all: readonly Key[]): Promise<ItemMap> =>
  new Map((await readMany(all)).map((item) => [textOf(keyOf(item)), item]))

const claimOf = ({ facts }: Debit) => keys.partnerReference(facts.provider, facts.partnerReference)

const lineKeys = ({ facts, settledIn, adjustedIn }: Debit) => ({
  line: settledIn && keys.line(settledIn, 'debit', facts.reference),
  adjustment: adjustedIn && keys.line(adjustedIn, 'adjustment', facts.reference),
})

/** Loads the related items of debits, strongly consistent. */
export const loadRecords = async (debits: readonly Debit[]): Promise<DebitRecord[]> => {
  const related = debits.flatMap((debit) => {
    const { line, adjustment } = lineKeys(debit)
    const { reference } = debit.facts
    return [
      claimOf(debit),
      ...debit.history.flatMap((_, n) => deliveryKeys({ reference, n })),
      ...(debit.status === 'reversed' ? [keys.refund(reference)] : []),
      ...[line, adjustment].filter((key) => key !== undefined),
    ]
  })
  const items = await readItems(related)
  return debits.map((debit) => recordOf(debit, items))
}

export const loadSettled = async (debits: readonly Debit[]): Promise<SettledRecord[]> => {
  const lines = debits.flatMap((debit) => Object.values(lineKeys(debit)))
  const items = await readItems(lines.flatMap((key) => key || []))
  return debits.map((debit) => ({ debit, ...linesIn(debit, items) }))
}

const linesIn = (debit: Debit, items: ItemMap) => {
  const { line, adjustment } = lineKeys(debit)
  const lineAt = (key: Key | undefined): Line | undefined => {
    const item = key && items.get(textOf(key))
    return item && fromLineItem(item)
  }
  return { line: lineAt(line), adjustment: lineAt(adjustment) }
}

const recordOf = (debit: Debit, items: ItemMap): DebitRecord => {
  const { reference } = debit.facts
  const itemAt = (key: Key) => items.get(textOf(key))
  const refund = itemAt(keys.refund(reference))
  const deliveries = deliveriesIn(
    debit.history
      .flatMap((_, n) => deliveryKeys({ reference, n }))
      .flatMap((key) => {
        const item = itemAt(key)
        return item ? [item] : []
      }),
  )
  return {
    debit,
    ...linesIn(debit, items),
    claim: itemAt(claimOf(debit)) as DebitRecord['claim'],
    deliveries: debit.history.map((_, index) => deliveries.find(({ n }) => n === index)),
    refund: refund && fromRefundItem(refund),
  }
}

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

/** Loads the debits of lines. @returns the lines without a debit as `orphans` */
export const loadLineRecords = async (batch: Batch, lines: readonly Line[]) => {
  const debits = await readDebits(lines.map(({ reference }) => reference))
  const originals = await findLines(
    lines.flatMap(({ type, reference }) => {
      const settledIn = debits.get(reference)?.settledIn
      return type === 'adjustment' && settledIn ? [{ batch: settledIn, reference }] : []
    }),
  )
  return {
    records: lines.flatMap((line) => {
      const debit = debits.get(line.reference)
      return debit ? [{ batch, line, debit, original: originals.get(line.reference) }] : []
    }),
    orphans: lines.filter(({ reference }) => !debits.has(reference)),
  }
}
