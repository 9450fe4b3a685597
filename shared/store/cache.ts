/**
 * A bounded memory of what was read, for a warm function. It holds what belongs to nobody's
 * request: credentials by their hash, providers, banks.
 */
export const ttlCache = <T>(rule: { entriesMax: number }) => {
  const entries = new Map<string, { value: T; until: number }>()
  return {
    /** The value under a key, loaded when it is unknown or older than `seconds`. */
    get: async (
      key: string,
      { now, seconds }: { now: Date; seconds: number },
      load: () => Promise<T | undefined>,
    ): Promise<T | undefined> => {
      const known = entries.get(key)
      if (known && known.until > now.getTime()) return known.value
      entries.delete(key)
      const value = await load()
      // What does not exist is not remembered: it may be created at any moment, and a caller
      // could fill the memory with guesses.
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
