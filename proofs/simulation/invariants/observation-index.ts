import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { ExceptionKind } from '../../../shared/domain/debits/exception.ts'
import type { EventName } from '../../../shared/domain/webhooks/event-type.ts'
import type { ApiCall, Observations } from '../engine/observations.ts'
import * as sent from './calls.ts'
import * as histories from './item-histories.ts'
import * as raw from './raw-items.ts'
import { timelineOf } from './setting-timeline.ts'
import { SETTLED, uuidOf } from './time-and-money.ts'

/** @param about a reference, uuid or key */
export type Reporter = (about: string, message: string) => void
export type Check = (index: ObservationIndex, report: Reporter) => void

export type ObservationIndex = ReturnType<typeof indexObservations>

type BatchLine = { item: raw.RawLine; batch: string }

export type DebitHistory = histories.History<raw.RawDebit> & {
  uuid: string
  entries: readonly raw.Entry[]
  createdAt: number
  lines: readonly BatchLine[]
  exceptions: readonly raw.RawException[]
}

export type BatchHistory = histories.History<raw.RawBatch>

export type DeliveryHistory = histories.History<raw.RawDelivery> & {
  key: string
  attempts: readonly raw.RawAttempt[]
  posts: readonly histories.ReceivedPost[]
}

type HistoryEvent = { provider: string; type: EventName; writtenAt: number }

const eventKey = (reference: string, n: number): string => `${reference}#${n}`

/** The observation that an invariant compares with an exception of the kind. */
const CAUSES: Record<ExceptionKind, 'bank report' | 'failed refund' | 'request'> = {
  late_completion: 'bank report',
  refused_report: 'bank report',
  contradiction: 'bank report',
  refund: 'failed refund',
  reversal_request: 'request',
}

export const indexObservations = (observations: Observations) => {
  const { calls, bankPosts, queries, invocations, changes, setup } = observations
  const stored = histories.itemHistories(observations)
  const { itemsOf, changesOf, historiesOf } = stored
  const lines = linesOf(stored)
  const exceptionsBy = Map.groupBy(itemsOf('exception'), ({ kind }) => CAUSES[kind])
  const exceptions = exceptionsBy.get('bank report') ?? []
  const requests = exceptionsBy.get('request') ?? []
  const refundFailures = exceptionsBy.get('failed refund') ?? []
  const debits = debitsIn(stored, lines, exceptions)
  const batches = new Map(historiesOf('batch').map((batch) => [batch.item.id, batch]))
  const posts = histories.receivedPosts(observations.posts, setup.providers)
  const postsOf = Map.groupBy(posts, ({ reference, n }) => eventKey(reference, n))
  const operatorCalls = sent.operatorCallsIn(calls)
  const concerns = sent.concernsIn(
    operatorCalls,
    Map.groupBy(itemsOf('exception'), ({ reference }) => reference),
  )
  const decisions = sent.decisionsIn(operatorCalls)
  const parts = Map.groupBy(itemsOf('reconciliation-part'), ({ run }) => run)
  return {
    observations,
    providers: new Map(setup.providers.map((provider) => [provider.id, provider])),
    debits,
    byUuid: new Map([...debits.values()].map((debit) => [debit.uuid, debit])),
    claims: itemsOf('claim'),
    runs: itemsOf('reconciliation').map((item) => ({ item, parts: parts.get(item.id) ?? [] })),
    chunkChanges: changesOf('lines'),
    claimChanges: changesOf('claim'),
    exceptionChanges: changesOf('exception'),
    batches,
    refunds: new Map(historiesOf('refund').map((refund) => [refund.item.reference, refund])),
    exceptions,
    requestsOf: Map.groupBy(requests, ({ reference }) => reference),
    /** The exceptions of failed refunds, by the uuid of the refund. */
    refundFailures: new Map(refundFailures.map((item) => [item.requestId, item])),
    events: eventsIn(debits, batches),
    deliveries: deliveriesIn(stored, postsOf),
    /** By provider: its events, as `reference#n`. */
    feeds: feedsIn(stored),
    posts,
    postsOf,
    /** Providers whose webhook was ever disabled. */
    disabled: disabledIn(stored),
    cashChanges: changes.filter(
      ({ before, after }) => (after ?? before)?.pk === 'FUNDS',
    ) as raw.ChangeOf<Item & { cash: number }>[],
    bankPostsTo: Map.groupBy(bankPosts, ({ path }) => path),
    bankPostsOf: Map.groupBy(bankPosts, ({ idempotencyKey }) => idempotencyKey),
    /** By debit, batch or remittance. */
    booksOf: Map.groupBy(observations.books, ({ of }) => of),
    queriesOf: Map.groupBy(queries, ({ uuid }) => uuid),
    changesBy: Map.groupBy(changes, ({ by }) => by?.invocation),
    callBy: new Map(calls.map((call) => [call.invocation, call])),
    /** Returns when an invocation started; `at` if it is unknown. */
    startOf: (invocation: number | undefined, at: number): number =>
      invocations.get(invocation ?? 0)?.startedAt ?? at,
    charges: sent.chargesIn(calls),
    reads: readsIn(calls, debits),
    reports: sent.reportsIn(calls),
    operatorCalls,
    /** Returns whether a call of `exception` is about a debit. */
    concerns,
    decisions,
    /** Returns the calls about the exceptions of a debit that were carried out. */
    decisionsOf: (reference: string): sent.Decision[] =>
      decisions.filter((decision) => concerns(decision, reference)),
    timeline: timelineOf(observations, operatorCalls),
  }
}

const disabledIn = ({ changesOf }: histories.ItemHistories): Set<string> =>
  new Set(
    changesOf('webhook-health')
      .map(histories.imageOf)
      .flatMap(({ pk, disabledAt }) => (disabledAt === undefined ? [] : [raw.ownerIn(pk)])),
  )

const linesOf = ({ itemsOf }: histories.ItemHistories): BatchLine[] =>
  itemsOf('lines').flatMap((chunk) =>
    raw.linesIn(chunk).map((item) => ({ item, batch: raw.ownerIn(chunk.pk) })),
  )

const debitsIn = (
  { historiesOf }: histories.ItemHistories,
  lines: readonly BatchLine[],
  exceptions: readonly raw.RawException[],
): Map<string, DebitHistory> => {
  const linesOfDebits = Map.groupBy(lines, ({ item }) => item.reference)
  const exceptionsOf = Map.groupBy(exceptions, ({ reference }) => reference)
  return new Map(
    historiesOf('debit').map(({ item, changes }) => {
      const entries = raw.entriesOf(item)
      const { reference } = item
      const own = { item, uuid: uuidOf(reference), changes, entries }
      const related = {
        lines: linesOfDebits.get(reference) ?? [],
        exceptions: exceptionsOf.get(reference) ?? [],
      }
      return [reference, { ...own, createdAt: entries[0]?.at ?? 0, ...related }]
    }),
  )
}

const deliveriesIn = (
  { itemsOf, deliveryHistories }: histories.ItemHistories,
  postsOf: ReadonlyMap<string, histories.ReceivedPost[]>,
): Map<string, DeliveryHistory> => {
  const attemptsOf = Map.groupBy(itemsOf('attempt'), ({ pk, n }) => eventKey(raw.ownerIn(pk), n))
  return new Map(
    deliveryHistories().map(({ item, changes }) => {
      const key = eventKey(item.reference, item.n)
      const past = (attemptsOf.get(key) ?? []).map(({ attempt }) => attempt)
      const attempts = item.last ? [item.last, ...past] : past
      return [key, { item, changes, key, attempts, posts: postsOf.get(key) ?? [] }]
    }),
  )
}

const feedsIn = ({ itemsOf }: histories.ItemHistories): Map<string, Set<string>> => {
  const pages = Map.groupBy(itemsOf('feed-page'), ({ pk }) => raw.ownerIn(pk))
  return new Map(
    [...pages].map(([provider, own]) => [provider, new Set(own.flatMap(({ entries }) => entries))]),
  )
}

const readsIn = (calls: readonly ApiCall[], debits: ReadonlyMap<string, DebitHistory>) =>
  calls.flatMap((call) => {
    const debit = debits.get(String(call.path.reference))
    if (call.name !== 'get-debit-request' || !debit) return []
    return [{ call, debit, data: sent.membersOf(sent.membersOf(call.reply?.body).data) }]
  })

const eventsIn = (
  debits: ReadonlyMap<string, DebitHistory>,
  batches: ReadonlyMap<string, BatchHistory>,
): ReadonlyMap<string, HistoryEvent> => {
  const events = new Map<string, HistoryEvent>()
  for (const [reference, { item, entries }] of debits) {
    for (const [n, { type, writtenAt }] of entries.entries())
      events.set(eventKey(reference, n), { provider: item.provider, type, writtenAt })
  }
  for (const [id, { item }] of batches) {
    if (item.status !== 'completed') continue
    const writtenAt = Date.parse(item.completedAt ?? '')
    events.set(eventKey(id, SETTLED), { provider: item.provider, type: 'settled', writtenAt })
  }
  return events
}
