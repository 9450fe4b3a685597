import * as v from 'valibot'
import { pageParameters } from './page.ts'
import type { Reference } from './reference.ts'

/** The feed of all events of a partner, in one order, for as long as 30 days. */

/** An event in it: of which debit, and which of its events. */
export type FeedEntry = { reference: Reference; n: number }

/** So many entries of this page, and all before it, have been read. */
export type FeedPosition = { page: number; count: number }

export const FEED_DAYS = 30

const POSITION = /^([0-9]{1,10})\.([0-9]{1,3})$/

export const feedCursor = ({ page, count }: FeedPosition): string =>
  Buffer.from(`${page}.${count}`).toString('base64url')

const REFUSED = 'must be a cursor of this feed'

const FeedCursor = v.pipe(
  v.string(REFUSED),
  v.transform((text) => Buffer.from(text, 'base64url').toString('latin1')),
  v.regex(POSITION, REFUSED),
  v.transform((text): FeedPosition => {
    const [, page, count] = POSITION.exec(text) ?? []
    return { page: Number(page), count: Number(count) }
  }),
)

/** The query of the feed: what follows a cursor, or all there is. */
export const EventFeedQuery = v.object({
  after: v.optional(FeedCursor),
  per_page: pageParameters.per_page,
})
