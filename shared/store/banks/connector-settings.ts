import type { BankIdentifier, ConnectorSettings } from '../../domain/banks/bank.ts'
import { keys } from '../keys.ts'
import { seal, unseal } from '../sealing.ts'
import { read, tableName, withoutKeys } from '../table.ts'

/** Where a bank is reached; read afresh for every submission, so a change holds at once. */
export const findConnectorSettings = async (
  bank: BankIdentifier,
): Promise<ConnectorSettings | undefined> => {
  const item = await read<Record<string, unknown>>(keys.connector(bank))
  if (!item) return undefined
  const settings = withoutKeys<ConnectorSettings>(item)
  return { ...settings, secret: await unseal(settings.secret, ownerOf(bank)) }
}

/** To be written in one transaction with the bank: who changes them changes it too. */
export const connectorWrite = async (bank: BankIdentifier, settings: ConnectorSettings) => ({
  Put: {
    TableName: tableName(),
    Item: {
      ...keys.connector(bank),
      entity: 'connector',
      ...settings,
      secret: await seal(settings.secret, ownerOf(bank)),
    },
  },
})

export const connectorRemoval = (bank: BankIdentifier) => ({
  Delete: { TableName: tableName(), Key: keys.connector(bank) },
})

/** Never the id of a provider, whose webhook secrets are sealed under the same key. */
const ownerOf = (bank: BankIdentifier): string => keys.connector(bank).pk
