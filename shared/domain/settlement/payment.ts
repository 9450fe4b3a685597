import { type Pesewas, pesewas } from '../money.ts'
import type { SettlementAccount } from '../providers/provider.ts'
import { laterOf } from '../time.ts'
import { type Batch, batchStatuses, payoutUuid, type RejectedPayout } from './batch.ts'

/** The steps of a payout (docs/api.md#payouts). */

/** Batches that are written in one transaction. */
type PayoutStep = { batch: Batch; others: Batch[] }

type PayoutStart = {
  belowZero: readonly Batch[]
  account: SettlementAccount
  at: Date
  generation?: number | undefined
}

type Division = { offsets: Batch['offsets']; due: Pesewas }

/** Divides the net of a batch: it first offsets the batches below zero, in their order, and the rest is due. */
export const divideNet = ({ totals }: Batch, belowZero: readonly Batch[]): Division => {
  let due: number = totals?.net ?? 0
  const offsets = belowZero.map(({ id, outstanding }) => {
    const amount = Math.min(due, -outstanding)
    due -= amount
    return { batch: id, amount: pesewas(amount) }
  })
  return { offsets, due: pesewas(due) }
}

/** Starts the payout of a batch. */
export const beginPayment = (
  batch: Batch,
  { belowZero, account, at, generation }: PayoutStart,
): PayoutStep => {
  const { offsets, due } = divideNet(batch, belowZero)
  const begun: Batch = {
    ...batch,
    status: 'processing',
    paid: due,
    paidTo: account,
    offsets: offsets.filter(({ amount }) => amount > 0),
    processedAt: laterOf(batch.sealedAt, at),
    sentAt: at,
    failedAt: null,
    failure: null,
  }
  const others = belowZero.map((other, index) => offset(other, offsets[index]?.amount ?? 0))
  return due > 0
    ? { batch: begun, others }
    : endPayment(begun, { bankReference: null, at, generation }, others)
}

/** @param amount negative: the amount is outstanding again */
const offset = (batch: Batch, amount: number): Batch => ({
  ...batch,
  status: 'pending',
  outstanding: pesewas(batch.outstanding + amount),
})

/** Starts the transfer of a provider for what its batch below zero owes: a payout below zero, to no account. */
export const collectDebt = (batch: Batch): PayoutStep => ({
  batch: { ...batch, paid: batch.outstanding, outstanding: pesewas(0) },
  others: [],
})

type PayoutEnd = { bankReference: string | null; at: Date; generation?: number | undefined }

/** Returns the cash that the payout of a batch takes: from its start, unless it fails. A transfer adds cash. */
export const takenFromCash = ({ status, paid }: Batch): number =>
  batchStatuses[status].takesCash ? (paid ?? 0) : 0

/** Completes a batch that was paid, and the others without an outstanding amount. */
export const endPayment = (
  batch: Batch,
  { bankReference, at, generation }: PayoutEnd,
  others: readonly Batch[],
): PayoutStep => {
  const end = {
    status: 'completed',
    completedAt: laterOf(batch.sealedAt, at),
    ...(generation && { completedGeneration: generation }),
  } as const
  return {
    batch: { ...batch, ...end, bankReference },
    others: others.map((other) =>
      other.outstanding === 0 ? { ...other, ...end, offsetBy: batch.id } : other,
    ),
  }
}

/** Fails a batch that its bank rejected. Its offsets are outstanding again. */
export const failPayment = (
  batch: Batch,
  { failure, at }: { failure: string; at: Date },
  others: readonly Batch[],
): PayoutStep => ({
  batch: {
    ...batch,
    status: 'failed',
    failure,
    failedAt: laterOf(batch.sealedAt, at),
    offsets: [],
  },
  others: others.map((other) => {
    const cancelled = batch.offsets.find(({ batch: id }) => id === other.id)
    return offset(other, -(cancelled?.amount ?? 0))
  }),
})

/** Returns the payouts of a failed batch, the oldest first. */
export const rejectedPayouts = ({
  id,
  uuid,
  paid,
  paidTo,
  failed = [],
}: Batch): RejectedPayout[] => {
  if (paid === null || !paidTo) throw new Error(`Batch ${id} has no payout that failed`)
  return [...failed, { uuid, paid, paidTo }]
}

/** Prepares another payout of a failed batch, with a new uuid. */
export const retryPayment = (batch: Batch): Batch => ({
  ...batch,
  uuid: payoutUuid(batch.id, batch.attempt + 1),
  attempt: batch.attempt + 1,
  status: 'pending',
  paid: null,
  paidTo: null,
  failed: rejectedPayouts(batch),
})
