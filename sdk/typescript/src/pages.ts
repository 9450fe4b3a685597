export type Page<Item> = {
  data: Item[]
  /** Cursor of the next page, also for later; null without one. The feed of events always has one. */
  nextCursor: string | null
  hasMore: boolean
}

/** A list whose iteration reads page after page. */
export type List<Item> = AsyncIterable<Item> & { pages(): AsyncIterable<Page<Item>> }

/** Returns the list whose page at a cursor `read` returns. */
export const listOf = <Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
  start?: string,
): List<Item> => {
  async function* pages() {
    let cursor = start
    for (;;) {
      const page = await read(cursor)
      yield page
      if (!page.hasMore || page.nextCursor === null) return
      cursor = page.nextCursor
    }
  }
  async function* items() {
    for await (const page of pages()) yield* page.data
  }
  return { pages, [Symbol.asyncIterator]: items }
}
