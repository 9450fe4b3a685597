/**
 * The pages of a source, each worked on while the one before is in use: what comes next is at hand
 * when it is asked for.
 */
export async function* prefetch<T, U>(
  source: AsyncIterable<T>,
  work: (page: T) => Promise<U>,
): AsyncGenerator<U> {
  const pages = source[Symbol.asyncIterator]()
  const load = async (): Promise<{ value: U } | undefined> => {
    const { done, value } = await pages.next()
    return done ? undefined : { value: await work(value) }
  }
  let next = load()
  try {
    for (;;) {
      const loaded = await next
      if (!loaded) return
      next = load()
      // Whoever stops early does not wait for it, and its failure is nobody's.
      next.catch(() => undefined)
      yield loaded.value
    }
  } finally {
    await next.catch(() => undefined)
    await pages.return?.()
  }
}
