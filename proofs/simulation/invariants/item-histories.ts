import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { Observations, Post, SimulatedProvider } from '../engine/observations.ts'
import { membersOf } from './calls.ts'
import * as raw from './raw-items.ts'
import { SETTLED } from './time-and-money.ts'

/** The stored items of a run, with their changes. */

/** Returns when an invocation started; `at` if it is unknown. */
export type StartOf = (invocation: number | undefined, at: number) => number

/** A write; `since`: the start of the invocation that made it. */
export type Step<T extends Item> = raw.ChangeOf<T> & { since: number }

export type History<T extends Item> = { item: T; changes: readonly Step<T>[] }

export const itemHistories = ({ items, changes }: Observations, startOf: StartOf) => {
  const itemsByKind = Map.groupBy(items, raw.kindOf)
  const itemsOf = <K extends raw.Kind>(kind: K) =>
    (itemsByKind.get(kind) ?? []) as raw.RawItems[K][]
  const steps = changes.map((one) => ({ ...one, since: startOf(one.by?.invocation, one.at) }))
  const changesByKind = Map.groupBy(steps, (change) => raw.kindOf(imageOf(change)))
  const changesOf = <K extends raw.Kind>(kind: K) =>
    (changesByKind.get(kind) ?? []) as Step<raw.RawItems[K]>[]
  const historiesOf = <K extends raw.Kind>(kind: K) => joinHistories(itemsOf(kind), changesOf(kind))

  /** An event of a receipt is a delivery without an item, until it gets a record of its own. */
  const deliveryHistories = (): History<raw.RawDelivery>[] => {
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
  return { itemsOf, changesOf, historiesOf, deliveryHistories }
}

const deliveriesOf = ({ pk, reference, provider, events }: raw.RawReceipt): raw.RawDelivery[] =>
  events.map(({ attempt, ...event }) => ({
    pk,
    sk: `DELIVERY#0${event.n}`,
    reference,
    provider,
    ...event,
    status: 'delivered',
    attemptCount: 1,
    last: { ...attempt, number: 1, cause: null },
    nextAttemptAt: null,
    deliveredAt: new Date(Date.parse(attempt.at) + attempt.milliseconds).toISOString(),
    failedAt: null,
    reason: null,
    autoRetries: 0,
  }))

export type ItemHistories = ReturnType<typeof itemHistories>

export const imageOf = ({ before, after }: raw.ChangeOf<Item>): Item => (after ?? before) as Item

const joinHistories = <T extends Item>(items: readonly T[], changes: readonly Step<T>[]) => {
  const changesByKey = Map.groupBy(changes, ({ before, after }) => keyOf((after ?? before) as T))
  return items.map((item) => ({ item, changes: changesByKey.get(keyOf(item)) ?? [] }))
}

/** Returns changes in the order of their commits; each starts from the end of the previous one. */
const continued = (changes: readonly Step<raw.RawDelivery>[]): Step<raw.RawDelivery>[] => {
  let last: raw.RawDelivery | undefined
  return changes
    .toSorted((a, b) => a.sequence - b.sequence)
    .map((change) => {
      const before = change.before ?? last
      last = change.after
      return { ...change, before }
    })
}

const keyOf = ({ pk, sk }: Item): string => `${pk} ${sk}`

/** `about` is undefined for a ping or an unreadable body. */
const readBody = (raw: string) => {
  const body = membersOf(raw)
  const { transaction, settlement } = membersOf(body.data)
  const { reference, id } = membersOf(transaction ?? settlement)
  const n = Number(body.sequence) % 10
  if (transaction) return { body, about: 'transaction' as const, reference: String(reference), n }
  return settlement
    ? { body, about: 'settlement' as const, reference: String(id), n: SETTLED }
    : { body, about: undefined, reference: '', n: -1 }
}

export type ReceivedPost = ReturnType<typeof receivedPosts>[number]

export const receivedPosts = (posts: readonly Post[], providers: readonly SimulatedProvider[]) => {
  const receivers = new Map(providers.map((provider) => [provider.id, provider]))
  // All attempts of an event have the same body.
  const read = new Map<string, ReturnType<typeof readBody>>()
  return posts.map((post) => {
    const known = read.get(post.raw) ?? readBody(post.raw)
    read.set(post.raw, known)
    const receiver = receivers.get(new URL(post.url).host.split('.')[0] ?? '')
    return { post, receiver, ...known, id: post.headers['x-svc-delivery-id'] ?? '' }
  })
}

export const isFinished = ({ by }: Post, { invocations, setup }: Observations): boolean =>
  by === undefined ? setup.isHealthy : (invocations.get(by)?.isFinished ?? false)

export const isConfirmed = ({ code, responseReceived }: Post): boolean =>
  responseReceived && code !== null && code >= 200 && code < 300
