import type { Item } from './change.ts'
import type { IndexDefinition, Key } from './keys.ts'
import { firstNot, newRows, orderBy, type Row } from './rows.ts'
import { isSame, type Value } from './values.ts'

/** The most steps that are queued without a read. */
const QUEUE_MAX = 256

type Step = { visibleAt: number; item: string; removed: Row | undefined; added: Row | undefined }

export type IndexView = ReturnType<typeof newIndexView>

/**
 * A global secondary index, which shows each change after a delay. The changes of one item appear in
 * their order. Entries hold the keys and the projected attributes.
 * @param lag returns the delay of a change of an item, in milliseconds
 */
export const newIndexView = (definition: IndexDefinition, lag: (item: string) => number) => {
  const { partitionKey, sortKey, projected } = definition
  const attributes = [partitionKey, sortKey, ...projected]
  const rows = newRows<Row>(orderBy(sortKey))
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

  const show = ({ removed, added }: Step): void => {
    if (removed) rows.remove(removed[partitionKey] as string, removed)
    if (added) rows.add(added[partitionKey] as string, added)
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

  /** Queues a change that was committed at an instant. */
  const apply = (before: Item | undefined, after: Item | undefined, at: number): void => {
    if (queue.length > QUEUE_MAX) catchUp(at)
    if (attributes.every((name) => isSame(before?.[name] as Value, after?.[name] as Value))) return
    const removed = rowOf(before)
    const added = rowOf(after)
    const row = removed ?? added
    if (!row) return
    const item = `${row.pk}\n${row.sk}`
    const visibleAt = Math.max(at + lag(item), lastAt.get(item) ?? 0)
    lastAt.set(item, visibleAt)
    const position = firstNot(queue, (other) => other.visibleAt <= visibleAt)
    queue.splice(position, 0, { visibleAt, item, removed, added })
  }

  return {
    definition,
    apply,
    /** Returns one partition as readers see it at an instant; instants never decrease. */
    partition: (value: string, now: number): readonly Row[] => {
      catchUp(now)
      return rows.partition(value)
    },
  }
}
