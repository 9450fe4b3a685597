import type { Reply } from './reply.ts'
import type { Request } from './transport.ts'

export type Page<Item> = {
  data: Item[]
  /** Cursor of the next page, also for later; null without one. The feed of events always has one. */
  nextCursor: string | null
  hasMore: boolean
}

/** A list whose iteration reads page after page. */
export type List<Item> = AsyncIterable<Item> & { pages(): AsyncIterable<Page<Item>> }

/** Returns the list whose pages a request reads, from a cursor. */
export const listOf = <Item>(
  send: (request: Request) => Promise<Reply>,
  request: Request,
  itemsIn: (reply: Reply) => Item[],
  start?: string | null,
): List<Item> => {
  async function* pages() {
    let cursor = start
    for (;;) {
      const reply = await send({ ...request, query: { ...request.query, per_page: 100, cursor } })
      const meta = reply.envelope?.meta as { next_cursor: string | null; has_more: boolean }
      const { next_cursor: nextCursor, has_more: hasMore } = meta
      yield { data: itemsIn(reply), nextCursor, hasMore }
      if (!hasMore || nextCursor === null) return
      cursor = nextCursor
    }
  }
  async function* items() {
    for await (const page of pages()) yield* page.data
  }
  return { pages, [Symbol.asyncIterator]: items }
}
