import { anyOperation } from './any-operation.ts'
import type { Operation } from './operation.ts'
import { type Random, randomOf } from './random.ts'
import { storeOperation } from './store-operation.ts'

/** Operations one after the other, the same for the same seed. */
export const operationsOf = (seed: number, count: number): Operation[] => {
  const random = randomOf(seed)
  // Tables of either kind, and some of both.
  const kind = seed % 3
  const operations: Operation[] = []
  while (operations.length < count) {
    const isStores = kind === 0 || (kind === 1 && random.once(2))
    operations.push(
      repeated(operations, random) ?? (isStores ? storeOperation(random) : anyOperation(random)),
    )
  }
  return operations
}

/** Now and then a transaction comes again, or another one under its token. */
const repeated = (earlier: readonly Operation[], random: Random): Operation | undefined => {
  if (!random.once(25)) return undefined
  const withToken = earlier.filter(({ input }) => input.ClientRequestToken !== undefined)
  const before = withToken.at(-1 - random.below(3))
  const other = withToken.at(-1 - random.below(3))
  if (!before || !other) return undefined
  if (!random.once(4)) return before
  const { ClientRequestToken } = before.input
  return { command: before.command, input: { ...other.input, ClientRequestToken } }
}
