import type { Change, Item } from '../engine/observations.ts'
import { invalid } from './errors.ts'
import { type IndexView, newIndexView } from './index-view.ts'
import type { Key } from './keys.ts'
import { newRows } from './rows.ts'
import type { TableOptions } from './table.ts'
import type { Effect } from './transactions.ts'
import { compareText, isSame, type Value } from './values.ts'

/** What a table keeps: its items, its indexes, and every change that led there. */
export type Storage = {
  changes: readonly Change[]
  items: () => Item[]
  find: (key: Key) => Item | undefined
  partition: (pk: string) => readonly Item[]
  /** The same as they stood a while ago. */
  findStale: (key: Key, age: number) => Item | undefined
  partitionStale: (pk: string, age: number) => readonly Item[]
  index: (name: string) => IndexView
  /** Does what was found to be possible, all of it. */
  commit: (effects: readonly Effect[]) => void
}

export const newStorage = ({ definition, now, indexLag, by }: TableOptions): Storage => {
  const rows = newRows()
  const changes: Change[] = []
  const views = new Map(
    definition.indexes.map((index) => [
      index.name,
      newIndexView(index, () => indexLag?.(index.name) ?? 0),
    ]),
  )
  const everyView = [...views.values()]
  let transactions = 0

  const commit = (effects: readonly Effect[]): void => {
    const at = now()
    transactions += 1
    for (const { before, after } of effects) {
      // A write that changes nothing leaves no record in the stream.
      if (isSame(before as Value | undefined, after as Value | undefined)) continue
      rows.set((after ?? before) as Key, after)
      changes.push({
        sequence: changes.length + 1,
        transaction: transactions,
        at,
        before,
        after,
        by: by?.(),
      })
      for (const view of everyView) view.note(before, after, at)
    }
  }

  const since = (age: number): Change[] => {
    const moment = now() - age
    const young: Change[] = []
    for (let n = changes.length - 1; n >= 0; n -= 1) {
      const change = changes[n] as Change
      if (change.at <= moment) break
      young.push(change)
    }
    return young
  }

  const partitionStale = (pk: string, age: number): readonly Item[] => {
    const items = new Map(rows.partition(pk).map((item) => [item.sk, item]))
    for (const { before, after } of since(age)) {
      const { pk: changed, sk } = (after ?? before) as Key
      if (changed !== pk) continue
      if (before) items.set(sk, before)
      else items.delete(sk)
    }
    return [...items.values()].sort((one, other) => compareText(one.sk, other.sk))
  }

  return {
    changes,
    commit,
    partitionStale,
    items: rows.all,
    find: rows.find,
    partition: rows.partition,
    findStale: (key, age) => partitionStale(key.pk, age).find(({ sk }) => sk === key.sk),
    index: (name) => {
      const view = views.get(name)
      if (!view) throw invalid(`The table does not have the specified index: ${name}`)
      return view
    },
  }
}
