import { newRandom, type Random } from './random.ts'
import { anyOperation, type Operation } from './random-operation.ts'
import { storeOperation } from './store-operation.ts'

/** Returns operations, equal for equal seeds. */
export const operationsOf = (seed: number, count: number): Operation[] => {
  const random = newRandom(seed)
  // A third of the seeds use only the store's operations, a third only others, a third both.
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

/** Sometimes repeats a transaction, or sends another one under its token. */
const repeated = (earlier: readonly Operation[], random: Random): Operation | undefined => {
  if (!random.once(25)) return undefined
  const withToken = earlier.filter(({ input }) => input.ClientRequestToken !== undefined)
  const first = withToken.at(-1 - random.below(3))
  const second = withToken.at(-1 - random.below(3))
  if (!first || !second) return undefined
  if (!random.once(4)) return first
  const { ClientRequestToken } = first.input
  return { command: first.command, input: { ...second.input, ClientRequestToken } }
}
