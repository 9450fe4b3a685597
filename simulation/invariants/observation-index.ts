import type { Change, Item } from '../../aws/table/change.ts'
import type { ApiCall, Observations, SimulatedProvider } from '../engine/observations.ts'
import { type BankReportCall, reportsIn } from './bank-report-calls.ts'
import { type ChargeHistory, chargesIn } from './charge-histories.ts'
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
import { type ReceivedPost, receivedPosts } from './received-posts.ts'

/** The observations, grouped by object. */

export type DebitHistory = {
  item: RawDebit
  entries: readonly Entry[]
  createdAt: number
  changes: ChangeOf<RawDebit>[]
  lines: BatchLine[]
  exceptions: RawException[]
}

/** The delivery of one event. */
export type DeliveryHistory = {
  item: RawDelivery
  changes: ChangeOf<RawDelivery>[]
  /** Every recorded attempt, in no order. */
  attempts: RawAttempt[]
}

export type BatchHistory = { item: RawBatch; changes: ChangeOf<RawBatch>[]; lines: BatchLine[] }

export type RefundHistory = { item: RawRefund; changes: ChangeOf<RawRefund>[] }

export type BatchLine = { item: RawLine; batch: string }

export type ObservationIndex = {
  observations: Observations
  providers: ReadonlyMap<string, SimulatedProvider>
  /** By reference. */
  debits: Map<string, DebitHistory>
  byUuid: Map<string, DebitHistory>
  claims: RawClaim[]
  pointers: RawPointer[]
  /** By reference and number of the event. */
  deliveries: Map<string, DeliveryHistory>
  pastAttempts: RawPastAttempt[]
  batches: Map<string, BatchHistory>
  lines: BatchLine[]
  dayTotals: RawDayTotal[]
  /** By provider: its events, as `reference#n`. */
  feeds: Map<string, Set<string>>
  /** Rejected bank reports. */
  exceptions: RawException[]
  /** By reference of their debit. */
  refunds: Map<string, RefundHistory>
  /** The exceptions of failed refunds, by the uuid of the refund. */
  refundFailures: Map<string, RawException>
  lineChanges: ChangeOf<RawLine>[]
  /** Changes of claims and pointers. */
  nameChanges: Change[]
  /** Providers whose webhook was ever disabled. */
  disabled: Set<string>
  byInvocation: Map<number, Change[]>
  askedBy: Map<number, ApiCall>
  charges: ReadonlyMap<string, ChargeHistory>
  reports: readonly BankReportCall[]
  posts: readonly ReceivedPost[]
  /** By reference and number of the event. */
  postsOf: ReadonlyMap<string, ReceivedPost[]>
}

export const eventKey = (reference: string, n: number): string => `${reference}#${n}`

const emptyIndex = (observations: Observations): ObservationIndex => {
  const providers = new Map(observations.setup.providers.map((provider) => [provider.id, provider]))
  const posts = receivedPosts(observations.posts, observations.setup.providers)
  return {
    observations,
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
      observations.changes.filter(({ by }) => by !== undefined),
      ({ by }) => by?.invocation ?? 0,
    ),
    askedBy: new Map(
      observations.calls.flatMap((call) =>
        call.invocation === undefined ? [] : [[call.invocation, call] as const],
      ),
    ),
    charges: chargesIn(observations.calls),
    reports: reportsIn(observations.calls),
    posts,
    postsOf: Map.groupBy(posts, ({ reference, n }) => eventKey(reference, n)),
  }
}

export const indexObservations = (observations: Observations): ObservationIndex => {
  const index = emptyIndex(observations)
  for (const item of observations.items) enter(item, index)
  for (const line of index.lines) {
    index.debits.get(line.item.reference)?.lines.push(line)
    index.batches.get(line.batch)?.lines.push(line)
  }
  for (const one of index.exceptions) index.debits.get(one.reference)?.exceptions.push(one)
  for (const { pk, n, attempt } of index.pastAttempts) {
    index.deliveries.get(eventKey(ownerIn(pk), n))?.attempts.push(attempt)
  }
  for (const change of observations.changes) follow(change, index)
  return index
}

const enter = (item: Item, index: ObservationIndex): void => {
  switch (kindOf(item)) {
    case 'debit':
      enterDebit(item as RawDebit, index)
      return
    case 'claim':
      index.claims.push(item as RawClaim)
      return
    case 'pointer':
      index.pointers.push(item as RawPointer)
      return
    case 'day total':
      index.dayTotals.push(item as RawDayTotal)
      return
    case 'delivery': {
      const record = item as RawDelivery
      const attempts = record.last ? [record.last] : []
      const key = eventKey(record.reference, record.n)
      index.deliveries.set(key, { item: record, changes: [], attempts })
      return
    }
    case 'exception':
      enterException(item as RawException, index)
      return
    case 'refund':
      index.refunds.set((item as RawRefund).reference, { item: item as RawRefund, changes: [] })
      return
    case 'attempt':
      index.pastAttempts.push(item as RawPastAttempt)
      return
    case 'batch': {
      const batch = item as RawBatch
      index.batches.set(batch.id, { item: batch, changes: [], lines: [] })
      return
    }
    case 'line':
      index.lines.push({ item: item as RawLine, batch: ownerIn(item.pk) })
      return
    case 'feed-page':
      enterFeedPage(item as RawFeedPage, index)
      return
    default:
  }
}

const enterDebit = (item: RawDebit, { debits, byUuid }: ObservationIndex): void => {
  const entries = entriesOf(item)
  const createdAt = entries[0]?.at ?? 0
  const history: DebitHistory = { item, entries, createdAt, changes: [], lines: [], exceptions: [] }
  debits.set(item.reference, history)
  byUuid.set(item.uuid, history)
}

const enterException = (
  item: RawException,
  { exceptions, refundFailures }: ObservationIndex,
): void => {
  if (item.kind === 'refund') refundFailures.set(item.requestId, item)
  else exceptions.push(item)
}

const enterFeedPage = ({ pk, entries }: RawFeedPage, { feeds }: ObservationIndex): void => {
  const provider = ownerIn(pk)
  const feed = feeds.get(provider) ?? new Set()
  for (const entry of entries) feed.add(entry)
  feeds.set(provider, feed)
}

/** Adds a change to its object. */
const follow = (change: Change, index: ObservationIndex): void => {
  const item = change.after ?? change.before
  if (!item) return
  switch (kindOf(item)) {
    case 'debit':
      index.debits.get((item as RawDebit).reference)?.changes.push(change as ChangeOf<RawDebit>)
      return
    case 'delivery': {
      const { reference, n } = item as RawDelivery
      const history = index.deliveries.get(eventKey(reference, n))
      history?.changes.push(change as ChangeOf<RawDelivery>)
      return
    }
    case 'batch':
      index.batches.get((item as RawBatch).id)?.changes.push(change as ChangeOf<RawBatch>)
      return
    case 'refund': {
      const { reference } = item as RawRefund
      index.refunds.get(reference)?.changes.push(change as ChangeOf<RawRefund>)
      return
    }
    case 'line':
      index.lineChanges.push(change as ChangeOf<RawLine>)
      return
    case 'claim':
    case 'pointer':
      index.nameChanges.push(change)
      return
    case 'webhook-health':
      if (item.disabledAt !== undefined) index.disabled.add(ownerIn(item.pk))
      return
    default:
  }
}
