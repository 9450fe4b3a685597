import * as v from 'valibot'
import type { Count, PageRequest } from '../domain/page.ts'
import { NullableText, Quantity } from './fields.ts'

/** Shows the place of a numbered page in its list (docs/api.md#pages). */
export const pageNumbersView = ({ page, perPage }: PageRequest, { count }: Count) => ({
  current_page: page,
  total_pages: Math.ceil(count / perPage),
})

/** Shows how many items match, counted up to 10,000 (docs/api.md#pages). */
export const countView = ({ count, isAtLeast }: Count) => ({
  total_count: count,
  ...(isAtLeast ? { total_is_at_least: true as const } : {}),
})

export const countEntries = () => ({
  total_count: v.optional(Quantity),
  total_is_at_least: v.optional(v.boolean()),
})

export const cursorEntries = () => ({
  per_page: Quantity,
  next_cursor: NullableText,
  has_more: v.boolean(),
})

/** A page by cursor has no number. */
export const numberedEntries = () => ({
  ...cursorEntries(),
  current_page: v.optional(Quantity),
  total_pages: v.optional(Quantity),
})
