/** Returns numbers in [0, 1), equal for equal seeds (mulberry32). */
export const draws = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export type Random = ReturnType<typeof randomOf>

export const randomOf = (seed: number) => {
  const draw = draws(seed)
  const below = (limit: number): number => Math.floor(draw() * limit)
  return {
    draw,
    below,
    between: (least: number, most: number): number => least + draw() * (most - least),
    happens: (probability: number): boolean => draw() < probability,
    pick: <T>(all: readonly T[]): T => all[below(all.length)] as T,
  }
}

export const seedOf = (...parts: number[]): number => {
  let seed = 0x9e3779b9
  for (const part of parts) {
    seed = Math.imul(seed ^ part, 0x85ebca6b)
    seed = Math.imul(seed ^ (seed >>> 13), 0xc2b2ae35)
    seed ^= seed >>> 16
  }
  return seed >>> 0
}
