import { formatAmount, type Pesewas, pesewas } from '../domain/money.ts'
import type { Batch } from '../domain/settlement/batch.ts'
import { divideNet } from '../domain/settlement/payment.ts'
import { findBatches, listBelowZero } from '../store/settlement/batches.ts'

/** What a payout that begins now must pay. */

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
  return `, but ${formatAmount(due)} is due: settle the difference of ${difference} first`
}
