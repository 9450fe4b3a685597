import type { BatchId } from '../domain/ids.ts'
import { formatAmount, type Pesewas, pesewas } from '../domain/money.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Batch, payableFrom, payoutOf } from '../domain/settlement/batch.ts'
import { beginPayment, divideNet } from '../domain/settlement/payment.ts'
import { mayBeInFlight } from '../domain/settlement/payout.ts'
import { findPayee } from '../store/providers/providers.ts'
import { findBatch, findBatches, listBelowZero } from '../store/settlement/batches.ts'
import { noAccount, notPayable, type PayoutOptions, payeeOf } from './payee.ts'

/** The amount that is due when a payout begins. */

/** 100 writes per transaction, less the batch, the cash, the record of a change and the end of its request. */
const OFFSETS_MAX = 96

/** @param taken the amounts that other payouts would offset */
export const listOffsettable = async (
  { provider, createdAt }: Batch,
  taken: ReadonlyMap<BatchId, number> = new Map(),
): Promise<Batch[]> =>
  (await findBatches(await listBelowZero(provider, createdAt)))
    .map((batch) => ({
      ...batch,
      outstanding: pesewas(batch.outstanding + (taken.get(batch.id) ?? 0)),
    }))
    .filter(({ status, outstanding }) => status === 'pending' && outstanding < 0)
    .slice(0, OFFSETS_MAX)

/** Returns what is due for a batch whose payout is not in progress. */
export const findDue = async (batch: Batch): Promise<Pesewas> =>
  divideNet(batch, await listOffsettable(batch)).due

const paymentTime = ({ status, date, payOn }: Batch): number =>
  status === 'failed' ? Number.MAX_SAFE_INTEGER : payableFrom({ date, payOn }).getTime()

/** Orders batches as they are paid: by their days, and then those that wait for an operator's retry. */
export const inOrderOfPayment = (batches: readonly Batch[]): Batch[] =>
  [...batches].sort((one, other) => paymentTime(one) - paymentTime(other))

/** Returns what is due for each batch if they are paid in this order: a debt reduces one of them. */
export const findDueOfEach = async (batches: readonly Batch[]): Promise<Map<BatchId, Pesewas>> => {
  const [dues, taken] = [new Map<BatchId, Pesewas>(), new Map<BatchId, number>()]
  for (const batch of batches) {
    const { offsets, due } = divideNet(batch, await listOffsettable(batch, taken))
    for (const { batch: id, amount } of offsets) taken.set(id, (taken.get(id) ?? 0) + amount)
    dues.set(batch.id, due)
  }
  return dues
}

/** Ends a sentence about a payout of another amount. Only an operator knows the cause of the difference. */
export const dueInstead = (due: Pesewas, paid: Pesewas): string => {
  const difference = formatAmount(pesewas(Math.abs(due - paid)))
  return `, but ${formatAmount(due)} is due: settle the difference of ${difference} first, then record what is due by --amount`
}

type PlanTimes = { now: () => Date; generation?: number | undefined }

/** Returns the payout that a batch would begin, with the account and the batches below zero, or why it may not begin. */
export const planPayout = async (
  batch: Batch,
  options: PayoutOptions,
  { now, generation }: PlanTimes,
) => {
  const belowZero = await listOffsettable(batch)
  const account = await payeeOf(batch, divideNet(batch, belowZero).due, now(), options)
  if (account instanceof Refusal) return account
  const begun = beginPayment(batch, { belowZero, account, at: now(), generation })
  return { begun, account, belowZero }
}

/** Returns a batch with its payout: the one that has begun, or that a call would begin now. */
export const findPayout = async (
  id: BatchId,
  at: Date,
  options: PayoutOptions,
): Promise<Batch | Refusal> => {
  const batch = await findBatch(id)
  if (!batch) return new Refusal(5404)
  if (payoutOf(batch) !== 'begins') return batch
  const plan = await planPayout(batch, options, { now: () => at })
  return plan instanceof Refusal ? plan : plan.begun.batch
}

/** Returns a failed batch with the payout of a retry, also while its account or the day holds it. */
export const findRetry = async (id: BatchId, at: Date): Promise<Batch | Refusal> => {
  const batch = await findFailedBatch(id)
  if (batch instanceof Refusal) return batch
  const { settlementAccount: account } = await findPayee(batch.provider)
  if (!account) return noAccount()
  return beginPayment(batch, { belowZero: await listOffsettable(batch), account, at }).batch
}

/** Refuses a batch whose payout has ended. */
export const refusalIfEnded = (batch: Batch): Refusal | undefined => {
  const payout = payoutOf(batch)
  if (payout === 'none') return new Refusal(5005)
  return payout === 'retries'
    ? new Refusal(5005, { details: 'its bank rejected the payout: see settlement retry' })
    : undefined
}

/** Returns a batch whose payout is in progress, and which no worker is sending. */
export const findUnderway = async (id: BatchId, at: Date): Promise<Batch | Refusal> => {
  const batch = await findBatch(id)
  if (!batch) return new Refusal(5404)
  if (payoutOf(batch) !== 'resumes')
    return refusalIfEnded(batch) ?? notPayable('the payout has not begun')
  return mayBeInFlight({ sentAt: batch.sentAt ?? batch.processedAt }, at)
    ? notPayable('a worker may be sending the payout: try again in a minute')
    : batch
}

/** Returns a failed batch, the only kind that can be retried. */
export const findFailedBatch = async (id: BatchId): Promise<Batch | Refusal> => {
  const batch = await findBatch(id)
  if (!batch) return new Refusal(5404)
  if (payoutOf(batch) === 'none') return new Refusal(5005)
  return payoutOf(batch) === 'retries' ? batch : notPayable('only a failed batch can be retried')
}
