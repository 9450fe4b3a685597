import { hash } from 'node:crypto'
import { type Cursor, LIST_HASH_LENGTH, NO_CURSOR } from '../domain/page.ts'
import { invalid } from '../domain/refusal.ts'

/** Identifies a list in its cursors by operation, caller and filters (docs/api.md#cursors). */
export const listHash = (operation: string, caller: string, filters: object = {}): string =>
  hash('sha256', JSON.stringify([operation, caller, filters]), 'base64url').slice(
    0,
    LIST_HASH_LENGTH,
  )

export const cursorFor = (list: string, position: string): string =>
  Buffer.from(`${list}${position}`).toString('base64url')

/** Returns the position of a cursor; 422/1007 for a cursor of another list. */
export const positionIn = (list: string, cursor: Cursor | undefined, parameter = 'cursor') =>
  cursor && cursor.list !== list ? invalid({ [parameter]: [NO_CURSOR] }) : cursor?.position

export const following = (list: string, next: string | null) => ({
  next_cursor: next === null ? null : cursorFor(list, next),
  has_more: next !== null,
})
