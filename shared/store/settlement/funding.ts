import type { BankIdentifier } from '../../domain/banks/bank.ts'
import { type Pesewas, pesewas } from '../../domain/money.ts'
import { type Correction, type Funding, fundingAmount } from '../../domain/settlement/funding.ts'
import type { Jitter } from '../../runtime.ts'
import { keys } from '../keys.ts'
import { fromStored, toStored } from '../stored.ts'
import * as db from '../table.ts'
import { transact } from '../transactions.ts'

/**
 * Remittances of banks and the cash for payouts: a counter that changes in the transaction of each
 * remittance, its correction, a provider's transfer, and each payout that begins or fails
 * (docs/api.md#ledger).
 */

const fromItem = (item: db.Item): Funding =>
  fromStored<Funding>(db.withoutKeys(item), { recordedAt: true })

export const findFunding = (bank: BankIdentifier, reference: string) =>
  db.find(keys.funding(bank, reference), fromItem)

/** Lists all remittances or those of one bank, strongly consistent, in no order. */
export const listFundings = async (bank?: BankIdentifier): Promise<Funding[]> =>
  (await db.readCollection({ ...keys.fundings, prefix: bank && `${bank}#` })).map(fromItem)

/** @returns false when the bank's reference is already recorded */
export const putFunding = (funding: Funding, alongside: readonly db.Write[], runtime: Jitter) => {
  const key = keys.funding(funding.bank, funding.reference)
  const record = db.putWrite({ ...key, entity: 'funding', ...toStored(funding) }, db.isNew)
  return transact([record, fundsChange(funding.amount), ...alongside], runtime)
}

/** @returns false when another correction was first */
export const correctFunding = (
  previous: Funding,
  correction: Correction,
  alongside: readonly db.Write[],
  runtime: Jitter,
) => {
  const { bank, reference, corrections = [] } = previous
  const corrected = db.updateWrite(keys.funding(bank, reference), {
    UpdateExpression: 'SET corrections = :corrections',
    ConditionExpression: corrections.length === 0 ? NO_CORRECTIONS : 'size(corrections) = :count',
    ExpressionAttributeValues: {
      ':corrections': [...corrections, correction],
      ...(corrections.length > 0 && { ':count': corrections.length }),
    },
  })
  const change = fundsChange(correction.amount - fundingAmount(previous))
  return transact([corrected, change, ...alongside], runtime)
}

const NO_CORRECTIONS = 'attribute_exists(pk) AND attribute_not_exists(corrections)'

/** Changes the cash for payouts; with `isCovered`, only if the cash covers the amount. */
export const fundsChange = (amount: number, { isCovered = false } = {}) =>
  db.updateWrite(keys.funds, {
    UpdateExpression: 'SET entity = :funds ADD cash :amount',
    ...(isCovered && { ConditionExpression: 'cash >= :needed' }),
    ExpressionAttributeValues: {
      ':funds': 'funds',
      ':amount': amount,
      ...(isCovered && { ':needed': -amount }),
    },
  })

/** Reads the cash for payouts; negative where payouts do not wait for it. */
export const findFunds = async (): Promise<Pesewas> => {
  const item = await db.read<{ cash?: number }>(keys.funds)
  return pesewas(item?.cash ?? 0)
}
