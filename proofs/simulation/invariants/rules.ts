import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { History } from './item-histories.ts'
import type { ObservationIndex } from './observation-index.ts'

/** The form of an invariant, and the walks that checks share. */

/** @param about a reference, uuid or key */
export type Reporter = (about: string, message: string) => void
export type Check = (index: ObservationIndex, report: Reporter) => void
/** By the numbers of invariants (all.ts). */
export type Checks = Readonly<Record<number, readonly Check[]>>

/** What is wrong with one thing; falsy: nothing. */
type Found = string | false | undefined | readonly (string | false | undefined)[]

/** Returns a maker of checks, which look at one thing of a kind after the other. */
const each =
  <T>(things: (index: ObservationIndex) => Iterable<readonly [about: string, thing: T]>) =>
  (find: (thing: T, index: ObservationIndex) => Found): Check =>
  (index, report) => {
    for (const [about, thing] of things(index))
      for (const message of [find(thing, index)].flat()) if (message) report(about, message)
  }

export const eachDebit = each(({ debits }) => debits)
export const eachBatch = each(({ batches }) => batches)
export const eachDelivery = each(({ deliveries }) => deliveries)
export const eachEvent = each(({ events }) => events)
export const eachRefund = each(({ refunds }) => refunds)

/** The writes of each item after its first one. */
function* updatesIn<T extends Item>(histories: ReadonlyMap<string, History<T>>) {
  for (const [about, { item, changes }] of histories)
    for (const { before, after, ...step } of changes)
      if (before && after) yield [about, { ...step, item, before, after }] as const
}

export const eachDebitUpdate = each(({ debits }) => updatesIn(debits))
