type MergeOptions<T> = { keyOf: (item: T) => string; isDescending?: boolean; ahead: number }

/**
 * Merges sources of sorted pages, and reads them at the same time. Yields the items up to a position that
 * all sources have reached: a later page has no earlier item.
 * @param isDescending whether the first item of a source has its last key
 * @param ahead the items of each source that are read before some are yielded, so that pages are large
 */
export async function* mergeSorted<T>(
  sources: readonly AsyncIterable<readonly T[]>[],
  { keyOf, isDescending = false, ahead }: MergeOptions<T>,
): AsyncGenerator<T[]> {
  const order = (one: string, other: string): number =>
    isDescending ? compare(other, one) : compare(one, other)
  const readers = sources.map((source) => source[Symbol.asyncIterator]())
  const waiting = readers.map((): readonly T[] => [])
  const ended = new Set<number>()

  const refill = async (reader: AsyncIterator<readonly T[]>, index: number): Promise<void> => {
    while ((waiting[index]?.length ?? 0) < ahead && !ended.has(index)) {
      const { done, value } = await reader.next()
      if (done) ended.add(index)
      else waiting[index] = [...(waiting[index] ?? []), ...value]
    }
  }

  while (ended.size < readers.length) {
    await Promise.all(readers.map(refill))
    const ends = waiting.flatMap((page, index) => {
      const last = page.at(-1)
      return last === undefined || ended.has(index) ? [] : [keyOf(last)]
    })
    const end = ends.sort(order)[0]
    const isReached = (item: T): boolean => end === undefined || order(keyOf(item), end) <= 0
    const page = waiting.flatMap((items) => items.filter(isReached))
    for (const [index, items] of waiting.entries()) {
      waiting[index] = items.filter((item) => !isReached(item))
    }
    if (page.length > 0) yield page.sort((one, other) => order(keyOf(one), keyOf(other)))
  }
}

const compare = (one: string, other: string): number => {
  if (one === other) return 0
  return one < other ? -1 : 1
}
