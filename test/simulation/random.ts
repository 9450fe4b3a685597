/** Random that can be repeated: the same seed gives the same throws. */
export type Random = {
  /** A whole number from 0 on, below n. */
  below: (n: number) => number
  /** One in so many times. */
  once: (inSoMany: number) => boolean
  pick: <T>(list: readonly T[]) => T
  /** So many of them, none twice, in no order. */
  some: <T>(list: readonly T[], count: number) => T[]
}

/** Mulberry32: short, and good enough to meet every case. */
export const randomOf = (seed: number): Random => {
  let state = seed >>> 0
  const below = (n: number): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n
  }
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const some = <T>(list: readonly T[], count: number): T[] => {
    const left = [...list]
    return Array.from({ length: Math.min(count, left.length) }, () =>
      left.splice(below(left.length), 1),
    ).flat()
  }
  return { below, pick, some, once: (inSoMany) => below(inSoMany) === 0 }
}
