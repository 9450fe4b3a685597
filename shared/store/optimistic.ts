/** Each lost race is a write of another worker; up to fifty workers may write at once. */
const RACES_MAX = 50

/**
 * Repeats an attempt to read an item, decide, and write the result on condition that the item is
 * unchanged. The first write wins; every other writer reads again.
 * @param attempt returns undefined when another writer was first
 * @throws Error after fifty lost races
 */
export const optimistically = async <T>(
  subject: string,
  attempt: (race: number) => Promise<T | undefined>,
): Promise<T> => {
  for (let race = 1; race <= RACES_MAX; race += 1) {
    const result = await attempt(race)
    if (result !== undefined) return result
  }
  throw new Error(`${subject} changed ${RACES_MAX} times during one update`)
}
