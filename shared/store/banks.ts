import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb'
import type { Bank, CustomerAccount } from '../domain/bank.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import { environment } from '../runtime.ts'
import { remembered } from './remembered.ts'
import { keys, read, table, tableName, withoutKeys } from './table.ts'

const banks = remembered<ReadonlyMap<string, Bank>>({ entriesMax: 1 })

/** Every bank by its identifier; one short item collection, remembered by a warm function. */
export const allBanks = async (now: Date): Promise<ReadonlyMap<string, Bank>> => {
  const known = await banks.get('all', { now, seconds: environment.cacheSeconds }, async () => {
    const { Items = [] } = await table.send(
      new QueryCommand({
        TableName: tableName(),
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': keys.banks.pk },
        ConsistentRead: true,
      }),
    )
    return new Map(Items.map((item) => [String(item.sk), withoutKeys<Bank>(item)]))
  })
  return known ?? new Map()
}

/** One bank as it stands now. */
export const findBank = async (identifier: string): Promise<Bank | undefined> => {
  const item = await read<Record<string, unknown>>(keys.bank(identifier))
  return item && withoutKeys<Bank>(item)
}

export const putBank = async (bank: Bank): Promise<void> => {
  await table.send(
    new PutCommand({
      TableName: tableName(),
      Item: { ...keys.bank(bank.identifier), entity: 'bank', ...bank },
    }),
  )
}

/** The account of a phone number at one bank. */
export const findAccount = async (
  phone: string,
  bank: string,
): Promise<CustomerAccount | undefined> => {
  const item = await read<Record<string, unknown>>(keys.account(phone, bank))
  return item && withoutKeys<CustomerAccount>(item)
}

/** All accounts of a phone number. */
export const listAccounts = async (
  phone: PhoneNumber,
): Promise<{ bank: string; account: CustomerAccount }[]> => {
  const { Items = [] } = await table.send(
    new QueryCommand({
      TableName: tableName(),
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': keys.account(phone, '').pk },
      ConsistentRead: true,
    }),
  )
  return Items.map((item) => ({
    bank: String(item.sk).slice(keys.account(phone, '').sk.length),
    account: withoutKeys<CustomerAccount>(item),
  }))
}

export const putAccount = async (
  phone: string,
  bank: string,
  account: CustomerAccount,
): Promise<void> => {
  await table.send(
    new PutCommand({
      TableName: tableName(),
      Item: { ...keys.account(phone, bank), entity: 'account', ...account },
    }),
  )
}
