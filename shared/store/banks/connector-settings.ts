import type { BankIdentifier, ConnectorSettings } from '../../domain/banks/bank.ts'
import type { Runtime } from '../../runtime.ts'
import { keys } from '../keys.ts'
import { seal, unseal } from '../sealing.ts'
import { type Item, read, tableName, withoutKeys } from '../table.ts'

/** Reads a bank's URL and secret, uncached, so that a change takes effect immediately. */
export const findConnectorSettings = async (
  bank: BankIdentifier,
): Promise<ConnectorSettings | undefined> => {
  const item = await read<Item>(keys.connector(bank))
  if (!item) return undefined
  const settings = withoutKeys<ConnectorSettings>(item)
  return { ...settings, secret: await unseal(settings.secret, ownerOf(bank)) }
}

/** Returns the write of connector settings, for the transaction that changes the bank. */
export const connectorWrite = async (
  bank: BankIdentifier,
  settings: ConnectorSettings,
  runtime: Pick<Runtime, 'randomBytes'>,
) => ({
  Put: {
    TableName: tableName(),
    Item: {
      ...keys.connector(bank),
      entity: 'connector',
      ...settings,
      secret: await seal(settings.secret, ownerOf(bank), runtime),
    },
  },
})

export const connectorRemoval = (bank: BankIdentifier) => ({
  Delete: { TableName: tableName(), Key: keys.connector(bank) },
})

/** Differs from every provider id: webhook secrets are sealed with the same key. */
const ownerOf = (bank: BankIdentifier): string => keys.connector(bank).pk
