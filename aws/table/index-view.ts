import type { Item } from './change.ts'
import type { IndexDefinition, Key } from './keys.ts'
import { firstNot, type Row } from './sorted-rows.ts'
import { compareText, isSame, type Value } from './values.ts'

/**
 * A global secondary index, which shows each change after a delay. The changes of one item appear in
 * their order. Entries hold the keys and the projected attributes.
 */
export type IndexView = {
  definition: IndexDefinition
  /** Queues a change that was committed at an instant. */
  apply: (before: Item | undefined, after: Item | undefined, at: number) => void
  /** Returns one partition as readers see it at an instant; instants never decrease. */
  partition: (value: string, now: number) => readonly Row[]
}

/** The most steps that are queued without a read. */
const QUEUE_MAX = 256

type Step = { visibleAt: number; item: string; removed: Row | undefined; added: Row | undefined }

/** @param lag returns the delay of a change, in milliseconds */
export const newIndexView = (definition: IndexDefinition, lag: () => number): IndexView => {
  const { partitionKey, sortKey, projected } = definition
  const attributes = [partitionKey, sortKey, ...projected]
  const partitions = new Map<string, Row[]>()
  /** Steps by the time they become visible; the first `shown` are applied. */
  const queue: Step[] = []
  let shown = 0
  /** The time of the last queued change of an item. */
  const lastAt = new Map<string, number>()

  const rowOf = (item: Item | undefined): Row | undefined => {
    if (item?.[partitionKey] === undefined || item[sortKey] === undefined) return undefined
    const row: Record<string, unknown> & Key = { pk: item.pk, sk: item.sk }
    for (const name of attributes) if (item[name] !== undefined) row[name] = item[name]
    return Object.freeze(row)
  }

  const positionOf = (rows: readonly Row[], row: Row): number =>
    firstNot(rows, (other) => {
      const order =
        compareText(other[sortKey] as string, row[sortKey] as string) ||
        compareText(other.pk, row.pk) ||
        compareText(other.sk, row.sk)
      return order < 0
    })

  const show = ({ removed, added }: Step): void => {
    if (removed) {
      const name = removed[partitionKey] as string
      const rows = partitions.get(name) ?? []
      rows.splice(positionOf(rows, removed), 1)
      if (rows.length === 0) partitions.delete(name)
    }
    if (added) {
      const name = added[partitionKey] as string
      const rows = partitions.get(name)
      if (rows) rows.splice(positionOf(rows, added), 0, added)
      else partitions.set(name, [added])
    }
  }

  const catchUp = (now: number): void => {
    for (let step = queue[shown]; step && step.visibleAt <= now; step = queue[shown]) {
      shown += 1
      show(step)
      if (lastAt.get(step.item) === step.visibleAt) lastAt.delete(step.item)
    }
    if (shown > QUEUE_MAX || shown === queue.length) {
      queue.splice(0, shown)
      shown = 0
    }
  }

  const apply: IndexView['apply'] = (before, after, at) => {
    if (queue.length > QUEUE_MAX) catchUp(at)
    if (attributes.every((name) => isSame(before?.[name] as Value, after?.[name] as Value))) return
    const removed = rowOf(before)
    const added = rowOf(after)
    const row = removed ?? added
    if (!row) return
    const item = `${row.pk}\n${row.sk}`
    const visibleAt = Math.max(at + lag(), lastAt.get(item) ?? 0)
    lastAt.set(item, visibleAt)
    const position = firstNot(queue, (other) => other.visibleAt <= visibleAt)
    queue.splice(position, 0, { visibleAt, item, removed, added })
  }

  return {
    definition,
    apply,
    partition: (value, now) => {
      catchUp(now)
      return partitions.get(value) ?? []
    },
  }
}
