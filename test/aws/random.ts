import { randomOf } from '../../simulation/engine/random.ts'

/** Random choices, equal for equal seeds. */
export type Random = ReturnType<typeof newRandom>

export const newRandom = (seed: number) => {
  const random = randomOf(seed)
  return {
    ...random,
    /** Returns true once in so many times. */
    once: (oneIn: number): boolean => random.below(oneIn) === 0,
    /** Returns distinct elements in random order. */
    some: <T>(list: readonly T[], count: number): T[] => {
      const remaining = [...list]
      return Array.from({ length: Math.min(count, remaining.length) }, () =>
        remaining.splice(random.below(remaining.length), 1),
      ).flat()
    },
  }
}
