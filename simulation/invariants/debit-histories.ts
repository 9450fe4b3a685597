import type { Asked, Change, Item, SceneProvider, Witnessed } from '../engine/observations.ts'
import { type ChargeBook, chargesIn } from './charge-book.ts'
import { type SeenPost, seenPosts } from './post-book.ts'
import {
  type ChangeOf,
  type Entry,
  entriesOf,
  kindOf,
  ownerIn,
  type RawAttempt,
  type RawBatch,
  type RawClaim,
  type RawDayTotal,
  type RawDebit,
  type RawDelivery,
  type RawException,
  type RawFeedPage,
  type RawLine,
  type RawPastAttempt,
  type RawPointer,
  type RawRefund,
} from './raw-items.ts'
import { type BankReport, reportsIn } from './report-book.ts'

/** A witnessed world in order: what belongs together lies together, and is found by its name. */

export type DebitBook = {
  item: RawDebit
  entries: readonly Entry[]
  /** When it was charged. */
  createdAt: number
  changes: ChangeOf<RawDebit>[]
  lines: LineBook[]
  exceptions: RawException[]
}

/** One event that is owed to a provider's webhook. */
export type DeliveryBook = {
  item: RawDelivery
  changes: ChangeOf<RawDelivery>[]
  /** Every attempt on record, in no order. */
  attempts: RawAttempt[]
}

export type BatchBook = { item: RawBatch; changes: ChangeOf<RawBatch>[]; lines: LineBook[] }

export type RefundBook = { item: RawRefund; changes: ChangeOf<RawRefund>[] }

export type LineBook = { item: RawLine; batch: string }

export type Books = {
  witnessed: Witnessed
  providers: ReadonlyMap<string, SceneProvider>
  /** By reference. */
  debits: Map<string, DebitBook>
  byUuid: Map<string, DebitBook>
  claims: RawClaim[]
  pointers: RawPointer[]
  /** By reference and number of the event. */
  deliveries: Map<string, DeliveryBook>
  pastAttempts: RawPastAttempt[]
  batches: Map<string, BatchBook>
  lines: LineBook[]
  dayTotals: RawDayTotal[]
  /** By provider: its events, as `reference#n`. */
  feeds: Map<string, Set<string>>
  /** Rejected bank reports. */
  exceptions: RawException[]
  /** By reference of their debit. */
  refunds: Map<string, RefundBook>
  /** The exceptions of failed refunds, by the uuid of the refund. */
  refundFailures: Map<string, RawException>
  lineChanges: ChangeOf<RawLine>[]
  /** Those of claims and pointers, which nobody changes. */
  nameChanges: Change[]
  /** Providers whose webhook was given up at some time. */
  disabled: Set<string>
  byInvocation: Map<number, Change[]>
  askedBy: Map<number, Asked>
  charges: ReadonlyMap<string, ChargeBook>
  reports: readonly BankReport[]
  posts: readonly SeenPost[]
  /** By reference and number of the event. */
  postsOf: ReadonlyMap<string, SeenPost[]>
}

export const eventKey = (reference: string, n: number): string => `${reference}#${n}`

const emptyBooks = (witnessed: Witnessed): Books => {
  const providers = new Map(witnessed.scene.providers.map((provider) => [provider.id, provider]))
  const posts = seenPosts(witnessed.posts, witnessed.scene.providers)
  return {
    witnessed,
    providers,
    debits: new Map(),
    byUuid: new Map(),
    claims: [],
    pointers: [],
    deliveries: new Map(),
    pastAttempts: [],
    batches: new Map(),
    lines: [],
    dayTotals: [],
    feeds: new Map(),
    exceptions: [],
    refunds: new Map(),
    refundFailures: new Map(),
    lineChanges: [],
    nameChanges: [],
    disabled: new Set(),
    byInvocation: Map.groupBy(
      witnessed.changes.filter(({ by }) => by !== undefined),
      ({ by }) => by?.invocation ?? 0,
    ),
    askedBy: new Map(
      witnessed.asked.flatMap((asked) =>
        asked.invocation === undefined ? [] : [[asked.invocation, asked] as const],
      ),
    ),
    charges: chargesIn(witnessed.asked),
    reports: reportsIn(witnessed.asked),
    posts,
    postsOf: Map.groupBy(posts, ({ reference, n }) => eventKey(reference, n)),
  }
}

export const booksOf = (witnessed: Witnessed): Books => {
  const books = emptyBooks(witnessed)
  for (const item of witnessed.items) enter(item, books)
  for (const line of books.lines) {
    books.debits.get(line.item.reference)?.lines.push(line)
    books.batches.get(line.batch)?.lines.push(line)
  }
  for (const one of books.exceptions) books.debits.get(one.reference)?.exceptions.push(one)
  for (const { pk, n, attempt } of books.pastAttempts) {
    books.deliveries.get(eventKey(ownerIn(pk), n))?.attempts.push(attempt)
  }
  for (const change of witnessed.changes) follow(change, books)
  return books
}

const enter = (item: Item, books: Books): void => {
  switch (kindOf(item)) {
    case 'debit':
      enterDebit(item as RawDebit, books)
      return
    case 'claim':
      books.claims.push(item as RawClaim)
      return
    case 'pointer':
      books.pointers.push(item as RawPointer)
      return
    case 'day total':
      books.dayTotals.push(item as RawDayTotal)
      return
    case 'delivery': {
      const record = item as RawDelivery
      const attempts = record.last ? [record.last] : []
      const key = eventKey(record.reference, record.n)
      books.deliveries.set(key, { item: record, changes: [], attempts })
      return
    }
    case 'exception':
      enterException(item as RawException, books)
      return
    case 'refund':
      books.refunds.set((item as RawRefund).reference, { item: item as RawRefund, changes: [] })
      return
    case 'attempt':
      books.pastAttempts.push(item as RawPastAttempt)
      return
    case 'batch': {
      const batch = item as RawBatch
      books.batches.set(batch.id, { item: batch, changes: [], lines: [] })
      return
    }
    case 'line':
      books.lines.push({ item: item as RawLine, batch: ownerIn(item.pk) })
      return
    case 'feed-page':
      enterFeedPage(item as RawFeedPage, books)
      return
    default:
  }
}

const enterDebit = (item: RawDebit, { debits, byUuid }: Books): void => {
  const entries = entriesOf(item)
  const createdAt = entries[0]?.at ?? 0
  const book: DebitBook = { item, entries, createdAt, changes: [], lines: [], exceptions: [] }
  debits.set(item.reference, book)
  byUuid.set(item.uuid, book)
}

const enterException = (item: RawException, { exceptions, refundFailures }: Books): void => {
  if (item.kind === 'refund') refundFailures.set(item.requestId, item)
  else exceptions.push(item)
}

const enterFeedPage = ({ pk, entries }: RawFeedPage, { feeds }: Books): void => {
  const provider = ownerIn(pk)
  const feed = feeds.get(provider) ?? new Set()
  for (const entry of entries) feed.add(entry)
  feeds.set(provider, feed)
}

/** What is gone in the end is still found by its changes: the last image stands in for it. */
const follow = (change: Change, books: Books): void => {
  const item = change.after ?? change.before
  if (!item) return
  switch (kindOf(item)) {
    case 'debit':
      books.debits.get((item as RawDebit).reference)?.changes.push(change as ChangeOf<RawDebit>)
      return
    case 'delivery': {
      const { reference, n } = item as RawDelivery
      const book = books.deliveries.get(eventKey(reference, n))
      book?.changes.push(change as ChangeOf<RawDelivery>)
      return
    }
    case 'batch':
      books.batches.get((item as RawBatch).id)?.changes.push(change as ChangeOf<RawBatch>)
      return
    case 'refund': {
      const { reference } = item as RawRefund
      books.refunds.get(reference)?.changes.push(change as ChangeOf<RawRefund>)
      return
    }
    case 'line':
      books.lineChanges.push(change as ChangeOf<RawLine>)
      return
    case 'claim':
    case 'pointer':
      books.nameChanges.push(change)
      return
    case 'webhook-health':
      if (item.disabledAt !== undefined) books.disabled.add(ownerIn(item.pk))
      return
    default:
  }
}
