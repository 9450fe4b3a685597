import * as v from 'valibot'

/** Pages of lists (specification, Limits: per_page 20, at most 100; page 1). */

const PER_PAGE = 20
const PER_PAGE_MAX = 100

/** How far pages reach; a list goes on beyond it by its cursor. */
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

const POSITION = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z#[A-Z0-9-]{17,24}$/

/** A position in a list as a caller carries it; only the shape of one is ever looked up. */
export const Cursor = v.pipe(
  v.string('must be a cursor of this list'),
  v.transform((text) => Buffer.from(text, 'base64url').toString('latin1')),
  v.regex(POSITION, 'must be a cursor of this list'),
)

export const cursorFor = (position: string): string => Buffer.from(position).toString('base64url')
