import type { BatchId } from '../domain/ids.ts'
import { formatAmount, type Pesewas, pesewas } from '../domain/money.ts'
import type { SettlementAccount } from '../domain/providers/provider.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Batch, payoutOf } from '../domain/settlement/batch.ts'
import { beginPayment, divideNet } from '../domain/settlement/payment.ts'
import { findPayee } from '../store/providers/providers.ts'
import { findBatch, findBatches, listBelowZero } from '../store/settlement/batches.ts'
import { noAccount, notPayable, type PayoutOptions, payeeOf } from './payee.ts'

/** The amount that is due when a payout begins. */

/** 100 writes per transaction, less the batch, the cash, the record of a change and the end of its request. */
const OFFSETS_MAX = 96

export const listOffsettable = async ({ provider, createdAt }: Batch): Promise<Batch[]> =>
  (await findBatches(await listBelowZero(provider, createdAt)))
    .filter(({ status, outstanding }) => status === 'pending' && outstanding < 0)
    .slice(0, OFFSETS_MAX)

/** Returns what is due for a batch whose payout is not in progress. */
export const findDue = async (batch: Batch): Promise<Pesewas> =>
  divideNet(batch, await listOffsettable(batch)).due

/** Ends a sentence about a payout of another amount. Only an operator knows the cause of the difference. */
export const dueInstead = (due: Pesewas, paid: Pesewas): string => {
  const difference = formatAmount(pesewas(Math.abs(due - paid)))
  return `, but ${formatAmount(due)} is due: settle the difference of ${difference} first, then record what is due by --amount`
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
  const account = await payeeOf(batch, at, options)
  return account instanceof Refusal ? account : payoutTo(account, batch, at)
}

const payoutTo = async (account: SettlementAccount, batch: Batch, at: Date): Promise<Batch> =>
  beginPayment(batch, { belowZero: await listOffsettable(batch), account, at }).batch

/** Returns a failed batch with the payout of a retry, also while its account or the day holds it. */
export const findRetry = async (id: BatchId, at: Date): Promise<Batch | Refusal> => {
  const batch = await findFailedBatch(id)
  if (batch instanceof Refusal) return batch
  const { settlementAccount } = await findPayee(batch.provider)
  return settlementAccount ? payoutTo(settlementAccount, batch, at) : noAccount()
}

/** Refuses a batch whose payout has ended. */
export const refusalIfEnded = (batch: Batch): Refusal | undefined => {
  const payout = payoutOf(batch)
  if (payout === 'none') return new Refusal(5005)
  return payout === 'retries'
    ? new Refusal(5005, { details: 'its bank rejected the payout: see settlement retry' })
    : undefined
}

/** Returns a batch whose payout is in progress. */
export const findUnderway = async (id: BatchId): Promise<Batch | Refusal> => {
  const batch = await findBatch(id)
  if (!batch) return new Refusal(5404)
  const isUnderway = payoutOf(batch) === 'resumes'
  return isUnderway ? batch : (refusalIfEnded(batch) ?? notPayable('the payout has not begun'))
}

/** Returns a failed batch, the only kind that can be retried. */
export const findFailedBatch = async (id: BatchId): Promise<Batch | Refusal> => {
  const batch = await findBatch(id)
  if (!batch) return new Refusal(5404)
  if (payoutOf(batch) === 'none') return new Refusal(5005)
  return payoutOf(batch) === 'retries' ? batch : notPayable('only a failed batch can be retried')
}
