import type { BankIdentifier } from '../../domain/banks/bank.ts'
import { type Pesewas, pesewas } from '../../domain/money.ts'
import type { Funding } from '../../domain/settlement/funding.ts'
import type { Runtime } from '../../runtime.ts'
import { keys } from '../keys.ts'
import { read, readCollection, tableName, type Write, withoutKeys } from '../table.ts'
import { transact } from '../transactions.ts'

/**
 * Remittances of banks, and the remaining cash for payouts: a counter that changes in the
 * transaction of each funding and of each payout that begins or fails.
 */

type Item = Omit<Funding, 'recordedAt'> & { recordedAt: string }

const fromItem = (item: Record<string, unknown>): Funding => {
  const { recordedAt, ...funding } = withoutKeys<Item>(item)
  return { ...funding, recordedAt: new Date(recordedAt) }
}

export const findFunding = async (
  bank: BankIdentifier,
  reference: string,
): Promise<Funding | undefined> => {
  const item = await read<Record<string, unknown>>(keys.funding(bank, reference))
  return item && fromItem(item)
}

/** Lists every funding, or those of one bank, strongly consistent, in no order. */
export const listFundings = async (bank?: BankIdentifier): Promise<Funding[]> =>
  (await readCollection(keys.fundings.pk, bank && `${bank}#`)).map(fromItem)

/**
 * Records a funding, with other writes in one transaction.
 * @returns false when the bank's reference is recorded already
 */
export const putFunding = (
  funding: Funding,
  runtime: Pick<Runtime, 'random' | 'pause'>,
  alongside: readonly Write[],
): Promise<boolean> => {
  const Put = {
    TableName: tableName(),
    Item: {
      ...keys.funding(funding.bank, funding.reference),
      entity: 'funding',
      ...funding,
      recordedAt: funding.recordedAt.toISOString(),
    },
    ConditionExpression: 'attribute_not_exists(pk)',
  }
  const TransactItems = [{ Put }, fundsChange(funding.amount), ...alongside]
  return transact(TransactItems, runtime)
}

/**
 * Returns the write that adds to the cash for payouts, or takes from it.
 * @param isCovered rejects the transaction when less than the amount is left
 */
export const fundsChange = (amount: number, { isCovered = false } = {}) => ({
  Update: {
    TableName: tableName(),
    Key: keys.funds,
    UpdateExpression: 'SET entity = :funds ADD cash :amount',
    ...(isCovered ? { ConditionExpression: 'cash >= :needed' } : {}),
    ExpressionAttributeValues: {
      ':funds': 'funds',
      ':amount': amount,
      ...(isCovered ? { ':needed': -amount } : {}),
    },
  },
})

/** Returns the cash that is left for payouts; below zero where payouts do not wait for it. */
export const findFunds = async (): Promise<Pesewas> => {
  const item = await read<{ cash?: number }>(keys.funds)
  return pesewas(item?.cash ?? 0)
}
