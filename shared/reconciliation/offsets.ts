import { formatAmount } from '../domain/money.ts'
import type { Batch, BatchId } from '../domain/settlement/batch.ts'
import type { Day } from '../domain/time.ts'
import { type CheckResult, checkResult, notApplicable } from './invariants.ts'
import { whole } from './sums.ts'

export type Batches = {
  /** All batches of a provider since a day, some older ones, and the batches that they name. */
  known: ReadonlyMap<BatchId, Batch>
  since: Day
}

const receivedBy = (id: BatchId, { known }: Batches): bigint => {
  let sum = 0n
  for (const { offsets } of known.values()) {
    for (const { batch, amount } of offsets) if (batch === id) sum += whole(amount)
  }
  return sum
}

const isBelowZero = ({ totals }: Batch): boolean => totals !== null && totals.net < 0

const givesRightly = ({ provider, offsets }: Batch, { known }: Batches): CheckResult =>
  checkResult(
    Object.assign(
      {},
      ...offsets.map(({ batch: id, amount }) => {
        const named = known.get(id)
        return {
          [`it offsets ${id}, which does not exist`]: named === undefined,
          [`it offsets ${id} of ${named?.provider}`]:
            named !== undefined && named.provider !== provider,
          [`it offsets ${id}, which is not below zero`]: named !== undefined && !isBelowZero(named),
          [`it offsets ${id} by ${amount} pesewas`]: amount <= 0,
        }
      }),
    ),
    // The batch is counted.
    0,
  )

/** Checks the offsets that a batch below zero has received. */
const receivesRightly = (batch: Batch, batches: Batches): CheckResult => {
  const { id, status, totals, outstanding, offsetBy } = batch
  const received = receivedBy(id, batches)
  const lacks = whole(totals?.net ?? 0) + received
  const last = offsetBy === null ? undefined : batches.known.get(offsetBy)
  const isNamed = last?.offsets.some((offset) => offset.batch === id) === true
  return checkResult(
    {
      [`it lacks ${formatAmount(-lacks)}, but ${formatAmount(-whole(outstanding))} is outstanding`]:
        isBelowZero(batch) && whole(outstanding) !== lacks,
      [`it is offset by ${formatAmount(received)}, but is not below zero`]:
        !isBelowZero(batch) && received !== 0n,
      [`it is ${status}, but offset by ${offsetBy}`]:
        isBelowZero(batch) && (status === 'completed') !== (offsetBy !== null),
      [`it is offset by ${offsetBy}, which does not name it`]: offsetBy !== null && !isNamed,
    },
    0,
  )
}

/** Checks the offsets of a batch in both directions. Only later batches offset one. */
export const isOffsetRightly = (batch: Batch, batches: Batches): CheckResult => {
  const gives = givesRightly(batch, batches)
  const receives = batch.date < batches.since ? notApplicable : receivesRightly(batch, batches)
  return { checked: 0, wrong: [...gives.wrong, ...receives.wrong] }
}
