import { beforeEach, expect, test } from 'vitest'
import { cutAt, type List, readMerged } from '../../shared/store/index-lists.ts'
import { type Item, tableName } from '../../shared/store/table.ts'
import { useTable } from '../support/tables.ts'

let insert: (item: Item) => void
beforeEach(() => {
  const { run } = useTable()
  insert = (item) => void run('PutCommand', { TableName: tableName(), Item: item })
})

const positionOf = (n: number): string => String(n).padStart(5, '0')

/** Stores 10,100 entries, of which a list has only one. */
const listWith = (key: string, { first, only }: { first: number; only: number }): List => {
  for (let n = first; n < first + 10_100; n += 1) {
    insert({ pk: `${key}#${n}`, sk: 'DEBIT', byStatus: key, byTime: positionOf(n) })
  }
  const select = async (entries: readonly Item[]) =>
    entries.filter(({ byTime }) => byTime === positionOf(only))
  return { index: 'by-status', key, select }
}

test('a page ends where the first of several bounded reads ends, and the next one continues there', async () => {
  const lists = [
    listWith('one', { first: 1, only: 120 }),
    listWith('other', { first: 51, only: 130 }),
  ]
  const slice = { skip: 0, limit: 10 }
  for (const each of [lists, lists.toReversed()]) {
    const page = await readMerged(each, slice)
    expect(page).toEqual({ positions: [], next: positionOf(151) })
    const rest = each.flatMap((list) => cutAt(list, String(page.next)))
    const positions = [positionOf(130), positionOf(120)]
    expect(await readMerged(rest, slice)).toEqual({ positions, next: null })
  }
})

test('a list that begins after a position has no part before it', () => {
  const list = { index: 'by-status', key: 'one', from: positionOf(5) } as const
  expect(cutAt(list, positionOf(4))).toEqual([])
})
