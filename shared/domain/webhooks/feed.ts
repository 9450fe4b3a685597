import * as v from 'valibot'
import type { Reference } from '../ids.ts'
import { cursorAt, pageParameters } from '../page.ts'

/** The feed of all events of a provider, in one order, for as long as 30 days. */

/** An event in it: of which debit, and which of its events. */
export type FeedEntry = { reference: Reference; n: number }

/** So many entries of this page, and all before it, have been read. */
export type FeedPosition = { page: number; count: number }

export const FEED_DAYS = 30

const POSITION = /^[0-9]{1,10}\.[0-9]{1,3}$/

export const feedPosition = ({ page, count }: FeedPosition): string => `${page}.${count}`

/** The inverse of {@link feedPosition}; the oldest event without one. */
export const readFeedPosition = (position = '0.0'): FeedPosition => {
  const [page, count] = position.split('.')
  return { page: Number(page), count: Number(count) }
}

const FeedCursor = v.optional(cursorAt(POSITION))

/** The query of the feed: what follows a cursor, or all there is. */
export const EventFeedQuery = v.pipe(
  v.object({
    cursor: FeedCursor,
    /** The former name of the cursor. */
    after: FeedCursor,
    per_page: pageParameters.per_page,
  }),
  v.forward(
    v.partialCheck(
      [['cursor'], ['after']],
      ({ cursor, after }) => !cursor || !after,
      'must not be given together with cursor',
    ),
    ['after'],
  ),
)
