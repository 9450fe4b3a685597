import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { ExceptionKind } from '../../../shared/domain/debits/exception.ts'
import type { Observations } from '../engine/observations.ts'
import * as sent from './calls.ts'
import * as histories from './item-histories.ts'
import * as raw from './raw-items.ts'
import { timelineOf } from './setting-timeline.ts'
import { SETTLED, uuidOf } from './time-and-money.ts'

export type ObservationIndex = ReturnType<typeof indexObservations>

export type DebitHistory = ReturnType<typeof debitsIn>[number]

export type BatchHistory = histories.History<raw.RawBatch>

export type DeliveryHistory = ReturnType<typeof deliveriesIn>[number]

const eventKey = (reference: string, n: number): string => `${reference}#${n}`

/** The observation that an invariant compares with an exception of the kind. */
const CAUSES: Record<ExceptionKind, 'bank report' | 'failed refund' | 'request'> = {
  late_completion: 'bank report',
  refused_report: 'bank report',
  contradiction: 'bank report',
  refund: 'failed refund',
  reversal_request: 'request',
}

const keyed = <K, T>(all: Iterable<T>, keyOf: (one: T) => K): ReadonlyMap<K, T> =>
  new Map(Array.from(all, (one) => [keyOf(one), one]))

export const indexObservations = (observations: Observations) => {
  const { invocations, changes, setup } = observations
  const startOf: histories.StartOf = (invocation, at) =>
    invocations.get(invocation ?? 0)?.startedAt ?? at
  const timed = <T extends { at: number; by?: number | undefined }>(one: T) => ({
    ...one,
    since: startOf(one.by, one.at),
  })
  const bankPosts = observations.bankPosts.map(timed)
  const queries = observations.queries.map(timed)
  const stored = histories.itemHistories(observations, startOf)
  const { itemsOf, changesOf, historiesOf } = stored
  const exceptionsBy = Map.groupBy(itemsOf('exception'), ({ kind }) => CAUSES[kind])
  const exceptions = exceptionsBy.get('bank report') ?? []
  const debits = keyed(debitsIn(stored, exceptions), ({ item }) => item.reference)
  const batches = keyed(historiesOf('batch'), ({ item }) => item.id)
  const posts = histories.receivedPosts(observations.posts, setup.providers)
  const postsOf = Map.groupBy(posts, ({ reference, n }) => eventKey(reference, n))
  const deliveries = keyed(deliveriesIn(stored, postsOf), ({ key }) => key)
  return {
    observations,
    setup,
    startOf,
    ...indexCalls(observations, itemsOf('exception')),
    debits,
    byUuid: keyed(debits.values(), ({ uuid }) => uuid),
    claims: itemsOf('claim'),
    runs: itemsOf('reconciliation').map((item) => ({
      item,
      parts: itemsOf('reconciliation-part').filter(({ run }) => run === item.id),
    })),
    bankPosts,
    queries,
    chunkChanges: changesOf('lines'),
    claimChanges: changesOf('claim'),
    exceptionChanges: changesOf('exception'),
    batches,
    refunds: keyed(historiesOf('refund'), ({ item }) => item.reference),
    exceptions,
    requestsOf: Map.groupBy(exceptionsBy.get('request') ?? [], ({ reference }) => reference),
    /** The exceptions of failed refunds, by the uuid of the refund. */
    refundFailures: keyed(exceptionsBy.get('failed refund') ?? [], ({ requestId }) => requestId),
    events: keyed(eventsIn(debits.values(), batches.values()), ({ key }) => key),
    deliveries,
    deliveriesOf: Map.groupBy(deliveries.values(), ({ item }) => item.reference),
    /** By provider: its events, as `reference#n`, with the time of their last append. */
    feeds: feedsIn(stored),
    posts,
    postsOf,
    /** Providers whose webhook was ever disabled. */
    disabled: new Set(
      changesOf('webhook-health')
        .map(histories.imageOf)
        .flatMap(({ pk, disabledAt }) => (disabledAt === undefined ? [] : [raw.ownerIn(pk)])),
    ),
    cashChanges: changes.filter(
      ({ before, after }) => (after ?? before)?.pk === 'FUNDS',
    ) as raw.ChangeOf<Item & { cash: number }>[],
    submissions: bankPosts.filter(({ path }) => path === '/submissions'),
    payouts: bankPosts.filter(({ path }) => path === '/settlements'),
    refundPosts: bankPosts.filter(({ path }) => path === '/refunds'),
    bankPostsOf: Map.groupBy(bankPosts, ({ idempotencyKey }) => idempotencyKey),
    /** By debit, batch or remittance. */
    booksOf: Map.groupBy(observations.books, ({ of }) => of),
    queriesOf: Map.groupBy(queries, ({ uuid }) => uuid),
    changesBy: Map.groupBy(changes, ({ by }) => by?.invocation),
  }
}

const indexCalls = (observations: Observations, exceptions: readonly raw.RawException[]) => {
  const { calls } = observations
  const operatorCalls = sent.operatorCallsIn(calls)
  const exceptionsOf = Map.groupBy(exceptions, ({ reference }) => reference)
  const concerns = sent.concernsIn(operatorCalls, exceptionsOf)
  const decisions = sent.decisionsIn(operatorCalls)
  return {
    callBy: keyed(calls, ({ invocation }) => invocation),
    charges: sent.chargesIn(calls),
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

const debitsIn = (stored: histories.ItemHistories, exceptions: readonly raw.RawException[]) => {
  const lines = stored
    .itemsOf('lines')
    .flatMap((chunk) => raw.linesIn(chunk).map((item) => ({ item, batch: raw.ownerIn(chunk.pk) })))
  const linesOf = Map.groupBy(lines, ({ item }) => item.reference)
  const exceptionsOf = Map.groupBy(exceptions, ({ reference }) => reference)
  return stored.historiesOf('debit').map(({ item, changes }) => {
    const { reference } = item
    const entries = raw.entriesOf(item)
    return {
      ...{ item, changes, entries, uuid: uuidOf(reference), createdAt: entries[0]?.at ?? 0 },
      lines: linesOf.get(reference) ?? [],
      exceptions: exceptionsOf.get(reference) ?? [],
    }
  })
}

const deliveriesIn = (
  { itemsOf, deliveryHistories }: histories.ItemHistories,
  postsOf: ReadonlyMap<string, histories.ReceivedPost[]>,
) => {
  const attemptsOf = Map.groupBy(itemsOf('attempt'), ({ pk, n }) => eventKey(raw.ownerIn(pk), n))
  return deliveryHistories().map(({ item, changes }) => {
    const key = eventKey(item.reference, item.n)
    const past = (attemptsOf.get(key) ?? []).map(({ attempt }) => attempt)
    const attempts = item.last ? [item.last, ...past] : past
    return { item, changes, key, attempts, posts: postsOf.get(key) ?? [] }
  })
}

/** Returns the last time at which a list got a member at a place. A restore shortens lists. */
const addedAt = <T extends Item>(
  { changes }: histories.History<T>,
  place: number,
  listOf: (item: T) => readonly unknown[],
): number => {
  const reaches = (item?: T) => item !== undefined && listOf(item).length > place
  return changes.findLast(({ before, after }) => reaches(after) && !reaches(before))?.at ?? 0
}

const feedsIn = ({ historiesOf }: histories.ItemHistories) => {
  const appends = historiesOf('feed-page').flatMap((page) => {
    const provider = raw.ownerIn(page.item.pk)
    return page.item.entries.map((key, place) => {
      return { provider, key, at: addedAt(page, place, ({ entries }) => entries) }
    })
  })
  appends.sort((one, other) => one.at - other.at)
  const timesOf = (own: typeof appends) => new Map(own.map(({ key, at }) => [key, at]))
  const byProvider = Map.groupBy(appends, ({ provider }) => provider)
  return new Map([...byProvider].map(([provider, own]) => [provider, timesOf(own)]))
}

const eventsIn = (debits: Iterable<DebitHistory>, batches: Iterable<BatchHistory>) => [
  ...[...debits].flatMap((debit) =>
    debit.entries.map(({ type, writtenAt }, n) => {
      const { provider, reference } = debit.item
      const committedAt = addedAt(debit, n, ({ history }) => history)
      return { key: eventKey(reference, n), provider, type, writtenAt, committedAt }
    }),
  ),
  ...[...batches].flatMap((batch) => {
    const { id, provider, completedAt } = batch.item
    const settled = ({ status }: raw.RawBatch) => (status === 'completed' ? [SETTLED] : [])
    const writtenAt = Date.parse(completedAt ?? '')
    const event = { key: eventKey(id, SETTLED), provider, type: 'settled' as const, writtenAt }
    return settled(batch.item).map(() => ({ ...event, committedAt: addedAt(batch, 0, settled) }))
  }),
]
