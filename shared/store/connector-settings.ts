import type { BankIdentifier, ConnectorSettings } from '../domain/bank.ts'
import { seal, unseal } from './sealing.ts'
import { keys, put, read, remove, withoutKeys } from './table.ts'

/** Where a bank is reached; read afresh for every submission, so a change holds at once. */
export const findConnectorSettings = async (
  bank: BankIdentifier,
): Promise<ConnectorSettings | undefined> => {
  const item = await read<Record<string, unknown>>(keys.connector(bank))
  if (!item) return undefined
  const settings = withoutKeys<ConnectorSettings>(item)
  return { ...settings, secret: await unseal(settings.secret, ownerOf(bank)) }
}

export const putConnectorSettings = async (
  bank: BankIdentifier,
  settings: ConnectorSettings,
): Promise<void> => {
  const sealed = { ...settings, secret: await seal(settings.secret, ownerOf(bank)) }
  await put(keys.connector(bank), 'connector', sealed)
}

/** Never the id of a partner, whose webhook secrets are sealed under the same key. */
const ownerOf = (bank: BankIdentifier): string => keys.connector(bank).pk

export const removeConnectorSettings = (bank: BankIdentifier): Promise<boolean> =>
  remove(keys.connector(bank))
