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

/** Maximum bytes of the items in a reply of 4 MB. Lambda rejects a reply over 6 MB. */
const ITEMS_BYTES_MAX = 3_990_000

/** Returns the bytes of an item in Lambda's payload, which contains the body as a JSON string. */
const payloadBytes = (item: unknown) => Buffer.byteLength(JSON.stringify(JSON.stringify(item)))

/** Returns the first items that fit into one reply, at least one. */
export const fitting = <T>(items: readonly T[]): T[] => {
  let bytes = 0
  const end = items.findIndex((item, index) => {
    bytes += payloadBytes(item)
    return index > 0 && bytes > ITEMS_BYTES_MAX
  })
  return items.slice(0, end < 0 ? undefined : end)
}
