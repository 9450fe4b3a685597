import type { KeyUnits } from '../../sandbox/aws/table/keys.ts'

/** A partition of the table or of an index, which may have a single key. */
const UNITS_PER_SECOND = 1_000
const SECOND_MS = 1_000

type Busiest = { table: number; index: number }

/**
 * Models the write units that a key of the table or of an index accepts. A transaction beyond them ends
 * when its keys have accepted it, as the retries of a throttled one do.
 */
export const newPartitions = (now: () => number) => {
  /** Until when the units that a key has taken fill it. */
  const busyUntil = new Map<string, number>()
  /** In this second. */
  const taken = new Map<string, number>()
  const busiest: Busiest = { table: 0, index: 0 }
  let second = 0
  let last = 0

  const take = ({ index, key, units }: KeyUnits): void => {
    const name = `${index ?? 'table'} ${key}`
    // A key accepts the units of one second at once.
    const idle = now() - SECOND_MS
    const until = Math.max(busyUntil.get(name) ?? 0, idle) + (units * SECOND_MS) / UNITS_PER_SECOND
    busyUntil.set(name, until)
    last = Math.max(last, until)
    const sum = (taken.get(name) ?? 0) + units
    taken.set(name, sum)
    const kind = index ? 'index' : 'table'
    busiest[kind] = Math.max(busiest[kind], sum)
  }

  return {
    /** The most units that one key took in a second. */
    busiest,
    take: (parts: readonly KeyUnits[]): void => {
      last = 0
      const current = Math.floor(now() / SECOND_MS)
      if (current !== second) taken.clear()
      second = current
      for (const part of parts) take(part)
    },
    /** Ignores earlier calls. */
    forget: (): void => {
      busyUntil.clear()
      taken.clear()
      Object.assign(busiest, { table: 0, index: 0 })
    },
    /** Returns the milliseconds until the keys of the last call have accepted it. */
    wait: (): number => Math.max(0, last - now()),
  }
}
