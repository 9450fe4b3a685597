/** Applies `work` to each page of a source, one page ahead of the consumer. */
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
      // A consumer that stops early never awaits it: no unhandled rejection.
      next.catch(() => undefined)
      yield loaded.value
    }
  } finally {
    await next.catch(() => undefined)
    await pages.return?.()
  }
}
