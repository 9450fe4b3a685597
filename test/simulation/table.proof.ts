import { expect, inject, test } from 'vitest'
import { type Difference, differenceIn, shortened } from './difference.ts'
import { operationsOf } from './operations.ts'
import { type Local, localAt } from './two-tables.ts'

/**
 * The simulated table does what DynamoDB Local does, operation by operation, and leaves the same
 * items, indexes and stream behind. `OPERATIONS=100000` makes it so many; `OPERATIONS_SEED` repeats
 * a run.
 */

const { OPERATIONS, OPERATIONS_SEED } = process.env
const count = Number(OPERATIONS ?? 4_000)
const seed = Number(OPERATIONS_SEED ?? (OPERATIONS ? Date.now() % 1_000_000_000 : 20261121))

/** Operations on one table; each run has a seed of its own. */
const PER_TABLE = 400
const AT_ONCE = 6

test(`${count} random operations from seed ${seed} come to the same`, async () => {
  const local = localAt(inject('dynamoDbEndpoint'))
  const seeds = Array.from({ length: Math.ceil(count / PER_TABLE) }, (_, n) => seed + n)
  let found: (Difference & { seed: number }) | undefined
  const runner = async (): Promise<void> => {
    for (let next = seeds.shift(); next !== undefined && !found; next = seeds.shift()) {
      const difference = await differenceIn(operationsOf(next, PER_TABLE), local)
      if (difference) found ??= { ...difference, seed: next }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, runner))
  expect(found && (await told(found, local))).toBeUndefined()
})

const told = async ({ seed, ...difference }: Difference & { seed: number }, local: Local) =>
  JSON.stringify({ seed, ...(await shortened(difference, local)) }, null, 1)
