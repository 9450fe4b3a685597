/** Works on all items, at most `limit` at the same time. */
export const inParallel = async <T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const remaining = items[Symbol.iterator]()
  const worker = async (): Promise<void> => {
    for (let next = remaining.next(); !next.done; next = remaining.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: limit }, worker))
}
