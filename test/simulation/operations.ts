import { anyOperation } from './any-operation.ts'
import { type Chance, chanceOf } from './chance.ts'
import type { Operation } from './operation.ts'
import { storeOperation } from './store-operation.ts'

/** Operations one after the other, the same for the same seed. */
export const operationsOf = (seed: number, count: number): Operation[] => {
  const chance = chanceOf(seed)
  // Tables of either kind, and some of both.
  const kind = seed % 3
  const operations: Operation[] = []
  while (operations.length < count) {
    const isStores = kind === 0 || (kind === 1 && chance.once(2))
    operations.push(
      repeated(operations, chance) ?? (isStores ? storeOperation(chance) : anyOperation(chance)),
    )
  }
  return operations
}

/** Now and then a transaction comes again, or another one under its token. */
const repeated = (earlier: readonly Operation[], chance: Chance): Operation | undefined => {
  if (!chance.once(25)) return undefined
  const withToken = earlier.filter(({ input }) => input.ClientRequestToken !== undefined)
  const before = withToken.at(-1 - chance.below(3))
  const other = withToken.at(-1 - chance.below(3))
  if (!before || !other) return undefined
  if (!chance.once(4)) return before
  const { ClientRequestToken } = before.input
  return { command: before.command, input: { ...other.input, ClientRequestToken } }
}
