import * as v from 'valibot'
import type { Reference } from '../ids.ts'
import { cursorAt, pageParameters } from '../page.ts'

/** The feed of a provider's events of the last 30 days (docs/api.md#event-feed). */

export type FeedEntry = { reference: Reference; n: number }

/** The number of entries that were read of a page; all earlier pages were read. */
export type FeedPosition = { page: number; count: number }

export const FEED_DAYS = 30

const POSITION = /^[0-9]{1,10}\.[0-9]{1,3}$/

export const feedPosition = ({ page, count }: FeedPosition): string => `${page}.${count}`

/** Parses a position; the default is the start of the feed. */
export const readFeedPosition = (position = '0.0'): FeedPosition => {
  const [page, count] = position.split('.')
  return { page: Number(page), count: Number(count) }
}

const FeedCursor = v.optional(cursorAt(POSITION))

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
