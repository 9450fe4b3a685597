import * as v from 'valibot'

/** Pages of lists (docs/api.md#pages, docs/api.md#cursors). */

const PER_PAGE = 20
const PER_PAGE_MAX = 100

/** The items that pages by number can reach; cursors have no such limit. */
export const REACH = 10_000

const wholeNumber = (max: number) => {
  const message = `must be a whole number from 1 to ${max}`
  return v.pipe(
    v.string(message),
    v.regex(/^[1-9][0-9]{0,5}$/, message),
    v.metadata({ type: 'integer', pattern: undefined, minimum: 1, maximum: max }),
    v.transform(Number),
    v.maxValue(max, message),
  )
}

export const pageParameters = {
  page: v.optional(wholeNumber(REACH)),
  per_page: v.optional(wholeNumber(PER_PAGE_MAX)),
}

export const PageQuery = v.object(pageParameters)

export type PageRequest = { page: number; perPage: number }

export const pageRequest = (query: {
  page?: number | undefined
  per_page?: number | undefined
}): PageRequest => ({ page: query.page ?? 1, perPage: query.per_page ?? PER_PAGE })

/** Returns one page of a list in memory. */
export const pageOf = <T>(all: readonly T[], { page, perPage }: PageRequest): T[] =>
  all.slice((page - 1) * perPage, page * perPage)

export type Slice = { skip: number; limit: number }

/** A slice of a list, or of the part that follows a position. */
export type PagePlace = { slice: Slice; before?: string | undefined }

/** Returns an empty slice beyond REACH. `page` does not apply to a page by cursor. */
export const placeOf = ({ page, perPage }: PageRequest, before: string | undefined): PagePlace => {
  const skip = before === undefined ? (page - 1) * perPage : 0
  return { slice: skip < REACH ? { skip, limit: perPage } : { skip: REACH, limit: 0 }, before }
}

/** A number of items, counted up to REACH. */
export type Count = { count: number; isAtLeast: boolean }

/** A short hash of a list, and a position in that list. */
export type Cursor = { list: string; position: string }

export const LIST_HASH_LENGTH = 8

export const NO_CURSOR = 'must be a cursor of this list'

/** Parses a cursor whose position has this form. */
export const cursorAt = (form: RegExp) =>
  v.pipe(
    v.string(NO_CURSOR),
    v.regex(/^[A-Za-z0-9_-]{14,100}$/, NO_CURSOR),
    v.transform((text): Cursor => {
      const decoded = Buffer.from(text, 'base64url').toString('latin1')
      return { list: decoded.slice(0, LIST_HASH_LENGTH), position: decoded.slice(LIST_HASH_LENGTH) }
    }),
    v.check(({ position }) => form.test(position), NO_CURSOR),
  )
