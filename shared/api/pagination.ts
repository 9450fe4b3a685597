import { hash } from 'node:crypto'
import { type Cursor, LIST_HASH_LENGTH, NO_CURSOR } from '../domain/page.ts'
import { invalid, type Refusal } from '../domain/refusal.ts'

/** Names a list in its cursors by its operation, its reader and its filters. */
export const listHash = (operation: string, reader: string, filters: object = {}): string =>
  hash('sha256', JSON.stringify([operation, reader, filters]), 'base64url').slice(
    0,
    LIST_HASH_LENGTH,
  )

export const cursorFor = (list: string, position: string): string =>
  Buffer.from(`${list}${position}`).toString('base64url')

/**
 * The position that a cursor names; undefined without a cursor.
 * @returns 422/1007 for a cursor of another list
 */
export const positionIn = (
  list: string,
  cursor: Cursor | undefined,
  parameter = 'cursor',
): string | undefined | Refusal =>
  cursor && cursor.list !== list ? invalid({ [parameter]: [NO_CURSOR] }) : cursor?.position

/** The members of `meta` that lead to the next page. */
export const following = (list: string, next: string | null) => ({
  next_cursor: next === null ? null : cursorFor(list, next),
  has_more: next !== null,
})
