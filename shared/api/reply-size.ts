/** Maximum bytes of the items in a reply of 4 MB. Lambda rejects a reply over 6 MB. */
const ITEMS_BYTES_MAX = 3_990_000

/** Returns the bytes of an item in Lambda's payload, which contains the body as a JSON string. */
const payloadBytes = (item: unknown) => Buffer.byteLength(JSON.stringify(JSON.stringify(item)))

/** Returns the first items that fit into one reply, at least one. */
export const fitting = <T>(items: readonly T[]): readonly T[] => {
  let bytes = 0
  const end = items.findIndex((item, index) => {
    bytes += payloadBytes(item)
    return index > 0 && bytes > ITEMS_BYTES_MAX
  })
  return end < 0 ? items : items.slice(0, end)
}
