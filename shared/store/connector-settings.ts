import type { BankIdentifier, ConnectorSettings } from '../domain/bank.ts'
import type { Refusal } from '../domain/refusal.ts'
import { seal, unseal } from './sealing.ts'
import { changeSettings, settingsIn } from './settings.ts'
import { keys, read, remove } from './table.ts'

/** Where a bank is reached; read afresh for every submission, so a change holds at once. */
export const findConnectorSettings = async (
  bank: BankIdentifier,
): Promise<ConnectorSettings | undefined> => {
  const item = await read<Record<string, unknown>>(keys.connector(bank))
  return item && formOf(bank).from(item)
}

/** Writes what `change` makes of the settings as they stand: see {@link changeSettings}. */
export const changeConnectorSettings = (
  bank: BankIdentifier,
  change: (before: ConnectorSettings | undefined) => ConnectorSettings | Refusal,
): Promise<ConnectorSettings | Refusal> =>
  changeSettings(keys.connector(bank), formOf(bank), change)

const formOf = (bank: BankIdentifier) => ({
  entity: 'connector',
  from: async (item: Record<string, unknown>): Promise<ConnectorSettings> => {
    const settings = settingsIn<ConnectorSettings>(item)
    return { ...settings, secret: await unseal(settings.secret, ownerOf(bank)) }
  },
  to: async (settings: ConnectorSettings): Promise<ConnectorSettings> => ({
    ...settings,
    secret: await seal(settings.secret, ownerOf(bank)),
  }),
})

/** Never the id of a partner, whose webhook secrets are sealed under the same key. */
const ownerOf = (bank: BankIdentifier): string => keys.connector(bank).pk

export const removeConnectorSettings = (bank: BankIdentifier): Promise<boolean> =>
  remove(keys.connector(bank))
