import { bankUrl } from '../banks/bank-url.ts'
import type { Bank, ConnectorSettings } from '../domain/bank.ts'
import { invalid, Refusal } from '../domain/refusal.ts'
import { environment, real } from '../runtime.ts'
import { putBank } from '../store/banks.ts'
import {
  findConnectorSettings,
  putConnectorSettings,
  removeConnectorSettings,
} from '../store/connector-settings.ts'

/** A bank and how it is reached, saved together. */

type Given = {
  'connector-url'?: string | undefined
  'connector-secret'?: string | undefined
}

export type Saved = {
  bank: Bank
  url?: string
  /** Made just now, and not to be seen again. */
  newSecret?: string
}

export const saveBank = async (bank: Bank, given: Given): Promise<Saved | Refusal> => {
  if (bank.connector === 'sandbox' && !environment.sandboxBank) {
    return invalid({ connector: ['sandbox is for sandboxes only'] })
  }
  if (bank.connector !== 'http') {
    const stray = (['connector-url', 'connector-secret'] as const).find((name) => given[name])
    if (stray) return invalid({ [stray]: ['is for connector http'] })
    await putBank(bank)
    return { bank }
  }
  const before = await findConnectorSettings(bank.identifier)
  const after = reached(before, given)
  if (after instanceof Refusal) return after
  // Before the bank, so that no debit finds a connector without its settings.
  await putConnectorSettings(bank.identifier, after)
  await putBank(bank)
  const isMade = !before && !given['connector-secret']
  return { bank, url: after.url, ...(isMade ? { newSecret: after.secret } : {}) }
}

/** Where a bank with connector http is reached: what was given, else what it was. */
const reached = (
  before: ConnectorSettings | undefined,
  given: Given,
): ConnectorSettings | Refusal => {
  const wanted = given['connector-url'] ?? before?.url
  if (wanted === undefined) return invalid({ 'connector-url': ['is required for connector http'] })
  const url = bankUrl(wanted, { localPeers: environment.localPeers })
  if (url instanceof Refusal) return url
  // A new URL keeps its secret; only another secret changes it.
  return {
    url,
    secret: given['connector-secret'] ?? before?.secret ?? connectorSecret(real.randomBytes(32)),
  }
}

const connectorSecret = (random: Uint8Array): string =>
  `cs_${Buffer.from(random).toString('base64url')}`

/** The bank first, so that no debit finds a connector without its settings. */
export const disconnect = async (bank: Bank): Promise<Bank> => {
  const after: Bank = { ...bank, connector: 'none' }
  await putBank(after)
  await removeConnectorSettings(bank.identifier)
  return after
}
