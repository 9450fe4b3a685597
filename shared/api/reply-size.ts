/** Bytes of the items of one reply: 4 MB with the rest of it. Lambda rejects a reply above 6 MB. */
const ITEMS_BYTES_MAX = 3_990_000

/** Lambda carries the body, a JSON text, as a string within another JSON text. */
const carriedBytes = (item: unknown): number =>
  Buffer.byteLength(JSON.stringify(JSON.stringify(item)))

/** The first items that fit into one reply; one at least. */
export const fitting = <T>(items: readonly T[]): readonly T[] => {
  let bytes = 0
  const end = items.findIndex((item, n) => {
    bytes += carriedBytes(item)
    return n > 0 && bytes > ITEMS_BYTES_MAX
  })
  return end < 0 ? items : items.slice(0, end)
}
