import * as v from 'valibot'

/** Pages of lists (specification, Limits: per_page 20, at most 100; page 1). */

const PER_PAGE = 20
const PER_PAGE_MAX = 100

/** Pages by number reach this many items deep; cursors have no such limit. */
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

/** `page` and `per_page` alone. */
export const PageQuery = v.object(pageParameters)

export type PageRequest = { page: number; perPage: number }

export const pageRequest = (query: {
  page?: number | undefined
  per_page?: number | undefined
}): PageRequest => ({ page: query.page ?? 1, perPage: query.per_page ?? PER_PAGE })

/** The members of one page of a list that is at hand. */
export const pageOf = <T>(all: readonly T[], { page, perPage }: PageRequest): T[] =>
  all.slice((page - 1) * perPage, page * perPage)

/** Items of a list: how many come before them, and how many there are. */
export type Slice = { skip: number; limit: number }

/** The place of a page in its list: a slice of it, or of the part that follows a position. */
export type PagePlace = { slice: Slice; before?: string | undefined }

/** A page beyond the reach shows nothing; `page` does not apply to a page by cursor. */
export const placeOf = ({ page, perPage }: PageRequest, before: string | undefined): PagePlace => {
  const skip = before === undefined ? (page - 1) * perPage : 0
  return { slice: skip < REACH ? { skip, limit: perPage } : { skip: REACH, limit: 0 }, before }
}

/** The number of items that match, counted up to the reach. */
export type Count = { count: number; isAtLeast: boolean }

/** A cursor: the list that it belongs to, as a short hash, and a position in that list. */
export type Cursor = { list: string; position: string }

export const LIST_HASH_LENGTH = 8

export const NO_CURSOR = 'must be a cursor of this list'

/** A cursor whose position has this form. */
export const cursorAt = (form: RegExp) =>
  v.pipe(
    v.string(NO_CURSOR),
    v.regex(/^[A-Za-z0-9_-]{14,100}$/, NO_CURSOR),
    v.transform((text): Cursor => {
      const decoded = Buffer.from(text, 'base64url').toString('latin1')
      return {
        list: decoded.slice(0, LIST_HASH_LENGTH),
        position: decoded.slice(LIST_HASH_LENGTH),
      }
    }),
    v.check(({ position }) => form.test(position), NO_CURSOR),
  )
