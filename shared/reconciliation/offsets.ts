import type { Batch, BatchId, Day } from '../domain/settlement/batch.ts'
import { type CheckResult, checkResult, notApplicable } from './invariants.ts'
import { inGhs, whole } from './sums.ts'

/** Batches below zero, and the batches that make them good: each side is compared with the other. */

export type Batches = {
  /** All batches of a provider since a day, some older ones, and those that they name. */
  known: ReadonlyMap<BatchId, Batch>
  since: Day
}

/** Returns what the batches of a provider have made good of one of them. */
const madeGoodOf = (id: BatchId, { known }: Batches): bigint => {
  let sum = 0n
  for (const { offsets } of known.values()) {
    for (const { batch, amount } of offsets) if (batch === id) sum += whole(amount)
  }
  return sum
}

const isBelowZero = ({ totals }: Batch): boolean => totals !== null && totals.net < 0

/** Checks what a batch makes good, by what it names. */
const offsetsRightly = ({ provider, offsets }: Batch, { known }: Batches): CheckResult =>
  checkResult(
    Object.assign(
      {},
      ...offsets.map(({ batch: id, amount }) => {
        const named = known.get(id)
        return {
          [`it offsets ${id}, which does not exist`]: named === undefined,
          [`it offsets ${id} of ${named?.provider}`]:
            named !== undefined && named.provider !== provider,
          [`it offsets ${id}, whose net is not negative`]:
            named !== undefined && !isBelowZero(named),
          [`it offsets ${id} with ${amount} pesewas`]: amount <= 0,
        }
      }),
    ),
    // The batch itself is counted.
    0,
  )

/** Checks what a batch below zero has got, by those that name it. */
const isMadeGoodRightly = (batch: Batch, batches: Batches): CheckResult => {
  const { id, status, totals, outstanding, offsetBy } = batch
  const made = madeGoodOf(id, batches)
  const lacks = whole(totals?.net ?? 0) + made
  const last = offsetBy === null ? undefined : batches.known.get(offsetBy)
  const isSaid = last?.offsets.some((one) => one.batch === id) === true
  return checkResult(
    {
      [`it lacks ${inGhs(-lacks)}, but ${inGhs(-whole(outstanding))} is outstanding`]:
        isBelowZero(batch) && whole(outstanding) !== lacks,
      [`${inGhs(made)} of it is offset, but its net is not negative`]:
        !isBelowZero(batch) && made !== 0n,
      [`it is ${status}, but offset by ${offsetBy}`]:
        isBelowZero(batch) && (status === 'completed') !== (offsetBy !== null),
      [`it is offset by ${offsetBy}, which does not name it`]: offsetBy !== null && !isSaid,
    },
    0,
  )
}

/** Checks the offsets of a batch in both directions. Only later batches make one good. */
export const isOffsetRightly = (batch: Batch, batches: Batches): CheckResult => {
  const given = offsetsRightly(batch, batches)
  const got = batch.date < batches.since ? notApplicable : isMadeGoodRightly(batch, batches)
  return { checked: 0, wrong: [...given.wrong, ...got.wrong] }
}
