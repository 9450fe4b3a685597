import type { Uuid } from '../ids.ts'
import { pesewas } from '../money.ts'
import type { SettlementAccount } from '../providers/provider.ts'
import type { Batch } from './batch.ts'

/** What becomes of a batch as it is paid: each step as it is to be written. */

/** Batches that are written together: all or none. */
type Together = { batch: Batch; others: Batch[] }

type Beginning = {
  belowZero: readonly Batch[]
  account: SettlementAccount
  at: Date
  generation?: number | undefined
}

/**
 * A batch whose payment begins. Of those below zero it makes good as much as its net allows, in
 * their order; when nothing is left to pay it is completed at once.
 */
export const beginPayment = (
  batch: Batch,
  { belowZero, account, at, generation }: Beginning,
): Together => {
  let left = batch.totals?.net ?? 0
  const offsets = belowZero.map(({ id, outstanding }) => {
    const amount = Math.min(left, -outstanding)
    left -= amount
    return { batch: id, amount: pesewas(amount) }
  })
  const begun: Batch = {
    ...batch,
    status: 'processing',
    paid: pesewas(left),
    paidTo: account,
    offsets: offsets.filter(({ amount }) => amount > 0),
    processedAt: at,
    failedAt: null,
    failure: null,
  }
  const others = belowZero.map((one, n) => madeGood(one, offsets[n]?.amount ?? 0))
  return left > 0
    ? { batch: begun, others }
    : endPayment(begun, { bankReference: null, at, generation }, others)
}

/** @param amount below nothing: it is outstanding again */
const madeGood = (batch: Batch, amount: number): Batch => ({
  ...batch,
  status: 'pending',
  outstanding: pesewas(batch.outstanding + amount),
})

type Ending = { bankReference: string | null; at: Date; generation?: number | undefined }

/** Returns the cash that the payout of a batch has, from its begin unless it fails. */
export const takenFromCash = ({ status, paid }: Batch): number =>
  status === 'processing' || status === 'completed' ? (paid ?? 0) : 0

/** A batch that was paid, and those of which nothing is outstanding any more. */
export const endPayment = (
  batch: Batch,
  { bankReference, at, generation }: Ending,
  others: readonly Batch[],
): Together => ({
  batch: {
    ...batch,
    status: 'completed',
    bankReference,
    completedAt: at,
    ...inGeneration(generation),
  },
  others: others.map((one) =>
    one.outstanding === 0
      ? {
          ...one,
          status: 'completed',
          offsetBy: batch.id,
          completedAt: at,
          ...inGeneration(generation),
        }
      : one,
  ),
})

const inGeneration = (generation: number | undefined) =>
  generation ? { completedGeneration: generation } : {}

/** A batch that its bank will not pay. What it was to make good waits for another. */
export const failPayment = (
  batch: Batch,
  { failure, at }: { failure: string; at: Date },
  others: readonly Batch[],
): Together => ({
  batch: { ...batch, status: 'failed', failure, failedAt: at, offsets: [] },
  others: others.map((one) => {
    const made = batch.offsets.find(({ batch: id }) => id === one.id)
    return madeGood(one, -(made?.amount ?? 0))
  }),
})

/** A failed batch that is to be paid after all, by another instruction. */
export const retryPayment = (batch: Batch, uuid: Uuid): Batch => ({
  ...batch,
  uuid,
  attempt: batch.attempt + 1,
  status: 'pending',
  paid: null,
  paidTo: null,
})
