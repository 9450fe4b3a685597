/**
 * Maps items with at most `limit` calls in flight. Results have the order of the items. After a failure it waits for
 * the other calls: Lambda freezes what still runs at the reply.
 * @throws the first failure
 */
export const mapConcurrent = async <T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const index = next
      next += 1
      results[index] = await map(items[index] as T)
    }
  }
  const works = Array.from({ length: Math.min(limit, items.length) }, work)
  await Promise.allSettled(works)
  await Promise.all(works)
  return results
}

/** Splits items into groups of a size. */
export const groupsOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
