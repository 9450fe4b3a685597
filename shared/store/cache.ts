/** Creates a bounded TTL cache for a warm function. It never holds data of a request. */
export const ttlCache = <T>(rule: { entriesMax: number }) => {
  const entries = new Map<string, { value: T; until: number }>()
  return {
    /** Returns the value of a key, and loads it if it is absent or older than `seconds`. */
    get: async (
      key: string,
      { now, seconds }: { now: Date; seconds: number },
      load: () => Promise<T | undefined>,
    ): Promise<T | undefined> => {
      const entry = entries.get(key)
      if (entry && entry.until > now.getTime()) return entry.value
      entries.delete(key)
      const value = await load()
      // Absence is not cached: the object may be created soon, and guesses could fill the cache.
      if (value === undefined) return undefined
      if (entries.size >= rule.entriesMax) {
        const [oldest] = entries.keys()
        if (oldest !== undefined) entries.delete(oldest)
      }
      entries.set(key, { value, until: now.getTime() + seconds * 1000 })
      return value
    },
  }
}
