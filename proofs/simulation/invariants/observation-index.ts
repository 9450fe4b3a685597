import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { ExceptionKind } from '../../../shared/domain/debits/exception.ts'
import type { EventName } from '../../../shared/domain/webhooks/event-type.ts'
import type { Observations } from '../engine/observations.ts'
import { chargesIn, membersOf, operatorCallsIn, reportsIn } from './calls.ts'
import {
  type ChangeOf,
  type Entry,
  entriesOf,
  type Kind,
  kindOf,
  ownerIn,
  type RawAttempt,
  type RawBatch,
  type RawDebit,
  type RawDelivery,
  type RawException,
  type RawItems,
} from './raw-items.ts'
import { linesIn, type RawLine } from './raw-lines.ts'
import { deliveriesOf } from './receipts.ts'
import { type ReceivedPost, receivedPosts } from './received-posts.ts'
import { timelineOf } from './setting-timeline.ts'
import { SETTLED, uuidOf } from './time-and-money.ts'

/** The observations, grouped by object. */

/** @param about a reference, uuid or key */
export type Reporter = (about: string, message: string) => void
export type Check = (index: ObservationIndex, report: Reporter) => void

export type ObservationIndex = ReturnType<typeof indexObservations>

/** An item at the end, and its changes. */
export type History<T extends Item> = { item: T; changes: readonly ChangeOf<T>[] }

/** A line, and the mark that its debit must have: batch and chunk. */
export type BatchLine = { item: RawLine; batch: string; mark: string }

export type DebitHistory = History<RawDebit> & {
  uuid: string
  entries: readonly Entry[]
  createdAt: number
  lines: readonly BatchLine[]
  exceptions: readonly RawException[]
}

export type BatchHistory = History<RawBatch> & { lines: readonly BatchLine[] }

/** The delivery of one event. */
export type DeliveryHistory = History<RawDelivery> & {
  key: string
  /** Every recorded attempt, in no order. */
  attempts: readonly RawAttempt[]
  posts: readonly ReceivedPost[]
}

/** An event that happened. */
type HistoryEvent = { provider: string; type: EventName; writtenAt?: number }

const eventKey = (reference: string, n: number): string => `${reference}#${n}`

const IS_OF_REFUND: Record<ExceptionKind, boolean> = {
  late_completion: false,
  refused_report: false,
  contradiction: false,
  refund: true,
}

export const indexObservations = (observations: Observations) => {
  const { items, changes, calls, bankPosts, queries, invocations, setup } = observations
  const itemsByKind = Map.groupBy(items, kindOf)
  const itemsOf = <K extends Kind>(kind: K) => (itemsByKind.get(kind) ?? []) as RawItems[K][]
  const imageOf = ({ before, after }: ChangeOf<Item>) => (after ?? before) as Item
  const changesByKind = Map.groupBy(changes, (change) => kindOf(imageOf(change)))
  const changesOf = <K extends Kind>(...kinds: K[]) =>
    kinds.flatMap((kind) => (changesByKind.get(kind) ?? []) as ChangeOf<RawItems[K]>[])
  const historiesOf = <K extends Kind>(kind: K) => joinHistories(itemsOf(kind), changesOf(kind))

  const lines = itemsOf('lines').flatMap((chunk) => {
    const batch = ownerIn(chunk.pk)
    return linesIn(chunk).map((item) => ({ item, batch, mark: `${batch}#${ownerIn(chunk.sk)}` }))
  })
  const linesOfDebits = Map.groupBy(lines, ({ item }) => item.reference)
  const linesOfBatches = Map.groupBy(lines, ({ batch }) => batch)
  const [refundFailures = [], exceptions = []] = [true, false].map((isRefund) =>
    itemsOf('exception').filter(({ kind }) => IS_OF_REFUND[kind] === isRefund),
  )
  const exceptionsOf = Map.groupBy(exceptions, ({ reference }) => reference)
  const debits = new Map(
    historiesOf('debit').map(({ item, changes }): [string, DebitHistory] => {
      const entries = entriesOf(item)
      const { reference } = item
      return [
        reference,
        {
          item,
          uuid: uuidOf(reference),
          changes,
          entries,
          createdAt: entries[0]?.at ?? 0,
          lines: linesOfDebits.get(reference) ?? [],
          exceptions: exceptionsOf.get(reference) ?? [],
        },
      ]
    }),
  )
  const batches = new Map(
    historiesOf('batch').map(({ item, changes }): [string, BatchHistory] => [
      item.id,
      { item, changes, lines: linesOfBatches.get(item.id) ?? [] },
    ]),
  )

  /** An event of a receipt is a delivery without an item, until it gets a record of its own. */
  const deliveryHistories = (): History<RawDelivery>[] => {
    const records = itemsOf('delivery')
    const recorded = new Set(records.map(keyOf))
    const received = itemsOf('receipt').flatMap(deliveriesOf)
    const receipts = changesOf('receipt').flatMap(({ after, ...change }) =>
      after
        ? deliveriesOf(after).map((event) => ({ ...change, before: undefined, after: event }))
        : [],
    )
    return joinHistories(
      [...records, ...received.filter((event) => !recorded.has(keyOf(event)))],
      [...changesOf('delivery'), ...receipts],
    ).map(({ item, changes }) => ({ item, changes: continued(changes) }))
  }
  const posts = receivedPosts(observations.posts, setup.providers)
  const postsOf = Map.groupBy(posts, ({ reference, n }) => eventKey(reference, n))
  const attemptsOf = Map.groupBy(itemsOf('attempt'), ({ pk, n }) => eventKey(ownerIn(pk), n))
  const deliveries = new Map(
    deliveryHistories().map(({ item, changes }): [string, DeliveryHistory] => {
      const key = eventKey(item.reference, item.n)
      const past = (attemptsOf.get(key) ?? []).map(({ attempt }) => attempt)
      const attempts = item.last ? [item.last, ...past] : past
      return [key, { item, changes, key, attempts, posts: postsOf.get(key) ?? [] }]
    }),
  )
  const feeds = new Map<string, Set<string>>()
  for (const { pk, entries } of itemsOf('feed-page')) {
    const provider = ownerIn(pk)
    feeds.set(provider, new Set([...(feeds.get(provider) ?? []), ...entries]))
  }

  const operatorCalls = operatorCallsIn(calls)
  const parts = Map.groupBy(itemsOf('reconciliation-part'), ({ run }) => run)
  return {
    observations,
    providers: new Map(setup.providers.map((provider) => [provider.id, provider])),
    /** By reference. */
    debits,
    byUuid: new Map([...debits.values()].map((debit) => [debit.uuid, debit])),
    claims: itemsOf('claim'),
    /** The nightly reconciliations. */
    runs: itemsOf('reconciliation').map((item) => ({ item, parts: parts.get(item.id) ?? [] })),
    dayTotals: itemsOf('day total'),
    lines,
    chunkChanges: changesOf('lines'),
    claimChanges: changesOf('claim'),
    batches,
    /** By reference of their debit. */
    refunds: new Map(historiesOf('refund').map((refund) => [refund.item.reference, refund])),
    /** Rejected bank reports. */
    exceptions,
    /** The exceptions of failed refunds, by the uuid of the refund. */
    refundFailures: new Map(refundFailures.map((item) => [item.requestId, item])),
    /** By reference and number of the event. */
    events: eventsIn(debits, batches),
    deliveries,
    /** By provider: its events, as `reference#n`. */
    feeds,
    posts,
    /** By reference and number of the event. */
    postsOf,
    /** Providers whose webhook was ever disabled. */
    disabled: new Set(
      changesOf('webhook-health')
        .map(imageOf)
        .flatMap(({ pk, disabledAt }) => (disabledAt === undefined ? [] : [ownerIn(pk)])),
    ),
    bankPostsTo: Map.groupBy(bankPosts, ({ path }) => path),
    /** By idempotency key. */
    bankPostsOf: Map.groupBy(bankPosts, ({ idempotencyKey }) => idempotencyKey),
    queriesOf: Map.groupBy(queries, ({ uuid }) => uuid),
    changesBy: Map.groupBy(changes, ({ by }) => by?.invocation),
    callBy: new Map(calls.map((call) => [call.invocation, call])),
    /** Returns when an invocation started; `at` if it is unknown. */
    startOf: (invocation: number | undefined, at: number): number =>
      invocations.get(invocation ?? 0)?.startedAt ?? at,
    charges: chargesIn(calls),
    /** Status reads of existing debits. */
    reads: calls.flatMap((call) => {
      const debit = debits.get(String(call.path.reference))
      if (call.name !== 'get-debit-request' || !debit) return []
      return [{ call, debit, data: membersOf(membersOf(call.reply?.body).data) }]
    }),
    reports: reportsIn(calls),
    operatorCalls,
    timeline: timelineOf(setup, operatorCalls),
  }
}

const joinHistories = <T extends Item>(
  items: readonly T[],
  changes: readonly ChangeOf<T>[],
): History<T>[] => {
  const changesByKey = Map.groupBy(changes, ({ before, after }) => keyOf((after ?? before) as T))
  return items.map((item) => ({ item, changes: changesByKey.get(keyOf(item)) ?? [] }))
}

/** Returns changes in the order of their commits; each starts from the end of the previous one. */
const continued = (changes: readonly ChangeOf<RawDelivery>[]): ChangeOf<RawDelivery>[] => {
  let last: RawDelivery | undefined
  return changes
    .toSorted((a, b) => a.sequence - b.sequence)
    .map((change) => {
      const before = change.before ?? last
      last = change.after
      return { ...change, before }
    })
}

const keyOf = ({ pk, sk }: Item): string => `${pk} ${sk}`

const eventsIn = (
  debits: ReadonlyMap<string, DebitHistory>,
  batches: ReadonlyMap<string, BatchHistory>,
): ReadonlyMap<string, HistoryEvent> => {
  const events = new Map<string, HistoryEvent>()
  for (const [reference, { item, entries }] of debits) {
    for (const [n, { type, writtenAt }] of entries.entries()) {
      events.set(eventKey(reference, n), { provider: item.provider, type, writtenAt })
    }
  }
  for (const [id, { item }] of batches) {
    if (item.status !== 'completed') continue
    events.set(eventKey(id, SETTLED), { provider: item.provider, type: 'settled' })
  }
  return events
}
