import { environment } from '../runtime.ts'

/**
 * Creates a bounded cache for a warm function. It never holds data of a request.
 * @param factor times the usual seconds, or its function of the value
 */
export const ttlCache = <T>(entriesMax: number, factor: number | ((value: T) => number) = 1) => {
  const entries = new Map<string, { value: T; from: number; until: number }>()

  const set = (key: string, value: T, now: Date): void => {
    if (entries.size >= entriesMax) {
      const [oldest] = entries.keys()
      if (oldest !== undefined) entries.delete(oldest)
    }
    const times = typeof factor === 'number' ? factor : factor(value)
    const from = now.getTime()
    entries.set(key, { value, from, until: from + times * environment.cacheSeconds * 1000 })
  }

  /** Returns the value of a key, and loads it if it is absent or has expired. */
  const get = async <L extends T | undefined>(
    key: string,
    now: Date,
    load: () => Promise<L>,
  ): Promise<T | L> => {
    const entry = entries.get(key)
    const time = now.getTime()
    // A clock can go back: a time before the value expires it, too.
    if (entry && entry.from <= time && time < entry.until) return entry.value
    entries.delete(key)
    const value = await load()
    // Absence is not cached: the object may be created soon, and guesses could fill the cache.
    if (value !== undefined) set(key, value, now)
    return value
  }

  return Object.assign(get, { set })
}
