import type { Item } from '../engine/observations.ts'
import type { IndexDefinition, Key } from './keys.ts'
import { firstNot, type Row } from './sorted-rows.ts'
import { compareText, isSame, type Value } from './values.ts'

/**
 * An index as its readers see it: a little behind the table, each item by itself, and every item
 * in the order of its own changes. It evaluate the keys and the projected attributes.
 */
export type IndexView = {
  definition: IndexDefinition
  /** Takes note of a change that was committed at an instant. */
  note: (before: Item | undefined, after: Item | undefined, at: number) => void
  /** One partition as it is seen at an instant; instants never go back. */
  partition: (value: string, now: number) => readonly Row[]
  /** The lowest sort key in partitions that begin so, also of what is not seen yet. */
  earliest: (prefix: string, now: number) => string | undefined
}

/** So many steps are storage back at most while they could be taken already. */
const COMING_MAX = 256

/** An entry that goes, and one that comes in its place; `item` names whose they are. */
type Step = { visibleAt: number; item: string; out: Row | undefined; in: Row | undefined }

/** @param lag how long after its commit a change is seen, in milliseconds */
export const newIndexView = (definition: IndexDefinition, lag: () => number): IndexView => {
  const { partitionKey, sortKey, projected } = definition
  const held = [partitionKey, sortKey, ...projected]
  const partitions = new Map<string, Row[]>()
  /** What is not seen yet, by when it will be; those in front were taken in already. */
  const coming: Step[] = []
  let taken = 0
  /** When the last change of an item will be seen, while that is still to come. */
  const lastAt = new Map<string, number>()

  const rowOf = (item: Item | undefined): Row | undefined => {
    const partition = item?.[partitionKey]
    const sort = item?.[sortKey]
    if (!item || partition === undefined || sort === undefined) return undefined
    const row: Record<string, unknown> & Key = { pk: item.pk, sk: item.sk }
    for (const name of held) if (item[name] !== undefined) row[name] = item[name]
    return Object.freeze(row)
  }

  const compareRows = (one: Row, other: Row): number =>
    compareText(one[sortKey] as string, other[sortKey] as string) ||
    compareText(one.pk, other.pk) ||
    compareText(one.sk, other.sk)

  const take = (step: Step): void => {
    if (step.out) {
      const name = step.out[partitionKey] as string
      const rows = partitions.get(name) ?? []
      rows.splice(positionOf(rows, step.out), 1)
      if (rows.length === 0) partitions.delete(name)
    }
    if (step.in) {
      const name = step.in[partitionKey] as string
      const rows = partitions.get(name)
      if (rows) rows.splice(positionOf(rows, step.in), 0, step.in)
      else partitions.set(name, [step.in])
    }
  }

  const positionOf = (rows: readonly Row[], row: Row): number =>
    firstNot(rows, (one) => compareRows(one, row) < 0)

  const catchUp = (now: number): void => {
    for (let step = coming[taken]; step && step.visibleAt <= now; step = coming[taken]) {
      taken += 1
      take(step)
      if (lastAt.get(step.item) === step.visibleAt) lastAt.delete(step.item)
    }
    if (taken > COMING_MAX || taken === coming.length) {
      coming.splice(0, taken)
      taken = 0
    }
  }

  const note: IndexView['note'] = (before, after, at) => {
    // Nobody may ever ask.
    if (coming.length > COMING_MAX) catchUp(at)
    if (held.every((name) => isSame(before?.[name] as Value, after?.[name] as Value))) return
    const out = rowOf(before)
    const entry = rowOf(after)
    const row = out ?? entry
    if (!row) return
    const item = `${row.pk}\n${row.sk}`
    const visibleAt = Math.max(at + lag(), lastAt.get(item) ?? 0)
    lastAt.set(item, visibleAt)
    const step: Step = { visibleAt, item, out, in: entry }
    // Most often it is the last one to come.
    if ((coming.at(-1)?.visibleAt ?? 0) <= visibleAt) coming.push(step)
    else
      coming.splice(
        firstNot(coming, (one) => one.visibleAt <= visibleAt),
        0,
        step,
      )
  }

  const earliest = (prefix: string, now: number): string | undefined => {
    catchUp(now)
    let found: string | undefined
    const look = (row: Row | undefined): void => {
      if (!row || !(row[partitionKey] as string).startsWith(prefix)) return
      const sort = row[sortKey] as string
      if (found === undefined || compareText(sort, found) < 0) found = sort
    }
    for (const [first] of partitions.values()) look(first)
    for (let n = taken; n < coming.length; n += 1) look(coming[n]?.in)
    return found
  }

  return {
    definition,
    note,
    earliest,
    partition: (value, now) => {
      catchUp(now)
      return partitions.get(value) ?? []
    },
  }
}
