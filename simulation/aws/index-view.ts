import type { Change, Item } from '../world/witness.ts'
import { firstNot, type Row } from './collections.ts'
import type { KeyNames } from './key-conditions.ts'
import { compareText } from './values.ts'

/**
 * An index as its readers see it: a little behind the table, each item by itself, and every item
 * in the order of its own changes. It holds keys only.
 */
export type IndexView = {
  keys: KeyNames
  /** Takes note of a committed change; when it is to be seen is asked only where it is one here. */
  note: (change: Pick<Change, 'before' | 'after'>, visibleAt: () => number) => void
  /** One partition as it is seen at an instant; instants never go back. */
  partition: (value: string, now: number) => readonly Row[]
  /** The lowest sort key in partitions that begin so, also of what is not seen yet. */
  earliest: (prefix: string, now: number) => string | undefined
}

type Step = { visibleAt: number; out: Row | undefined; in: Row | undefined }

export const newIndexView = (keys: KeyNames): IndexView => {
  const { partitionKey, sortKey } = keys
  const partitions = new Map<string, Row[]>()
  /** What is not seen yet, by when it will be. */
  const coming: Step[] = []
  /** When the last change of an item will be seen, while that is still to come. */
  const lastAt = new Map<string, number>()

  const rowOf = (item: Item | undefined): Row | undefined => {
    const partition = item?.[partitionKey]
    const sort = item?.[sortKey]
    if (!item || partition === undefined || sort === undefined) return undefined
    return Object.freeze({
      pk: item.pk,
      sk: item.sk,
      [partitionKey]: partition,
      [sortKey]: sort,
    }) as Row
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
    if (coming.length === 0) return
    const count = firstNot(coming, ({ visibleAt }) => visibleAt <= now)
    for (const step of coming.splice(0, count)) {
      take(step)
      const name = nameOf(step)
      if (lastAt.get(name) === step.visibleAt) lastAt.delete(name)
    }
  }

  const note: IndexView['note'] = ({ before, after }, visibleAt) => {
    if (
      before?.[partitionKey] === after?.[partitionKey] &&
      before?.[sortKey] === after?.[sortKey]
    ) {
      return
    }
    const step: Step = { visibleAt: 0, out: rowOf(before), in: rowOf(after) }
    if (!step.out && !step.in) return
    const name = nameOf(step)
    step.visibleAt = Math.max(visibleAt(), lastAt.get(name) ?? 0)
    lastAt.set(name, step.visibleAt)
    coming.splice(
      firstNot(coming, (one) => one.visibleAt <= step.visibleAt),
      0,
      step,
    )
  }

  const earliest = (prefix: string, now: number): string | undefined => {
    catchUp(now)
    const firsts = [...partitions.values()].map(([first]) => first)
    const sorts = [...firsts, ...coming.map((step) => step.in)].flatMap((row) =>
      row && String(row[partitionKey]).startsWith(prefix) ? [row[sortKey] as string] : [],
    )
    return sorts.sort(compareText)[0]
  }

  return {
    keys,
    note,
    earliest,
    partition: (value, now) => {
      catchUp(now)
      return partitions.get(value) ?? []
    },
  }
}

const nameOf = (step: Step): string => {
  const row = step.out ?? step.in
  return `${row?.pk}\n${row?.sk}`
}
