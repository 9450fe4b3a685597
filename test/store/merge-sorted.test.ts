import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeSorted } from '../../shared/store/merge-sorted.ts'

async function* pagesOf(items: readonly string[], size: number): AsyncGenerator<string[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
  // The last page of a query may be empty.
  yield []
}

const keyOf = (item: string): string => item.slice(0, 2)
const sources = fc.array(fc.array(fc.stringMatching(/^[0-9]{2}[a-z]$/)), { maxLength: 8 })
const size = fc.integer({ min: 1, max: 5 })

test('a merge yields each item of its sources once, in the order of positions', async () => {
  await fc.assert(
    fc.asyncProperty(sources, size, size, async (lists, pageSize, ahead) => {
      const sorted = lists.map((list) => list.toSorted())
      const pages = await Array.fromAsync(
        mergeSorted(
          sorted.map((list) => pagesOf(list, pageSize)),
          { keyOf, ahead },
        ),
      )
      const merged = pages.flat()
      expect(merged.toSorted()).toEqual(lists.flat().toSorted())
      expect(merged.map(keyOf)).toEqual(lists.flat().map(keyOf).toSorted())
      expect(pages.every((page) => page.length > 0)).toBe(true)
    }),
  )
})

test('a consumer that stops early leaves the rest of each source unread', async () => {
  let read = 0
  async function* endless(): AsyncGenerator<string[]> {
    for (;;) {
      read += 1
      yield [String(read).padStart(2, '0')]
    }
  }
  for await (const _ of mergeSorted([endless(), endless()], { keyOf, ahead: 1 })) break
  expect(read).toBe(2)
})
