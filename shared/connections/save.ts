import { bankUrl } from '../banks/bank-url.ts'
import type { Bank, BankIdentifier, ConnectorSettings } from '../domain/bank.ts'
import { invalid, Refusal } from '../domain/refusal.ts'
import { environment, real } from '../runtime.ts'
import { changeBank } from '../store/banks.ts'
import { changeConnectorSettings, removeConnectorSettings } from '../store/connector-settings.ts'

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

/** @param change what is made of the bank as it stands; undefined: there is none yet */
export const saveBank = async (
  identifier: BankIdentifier,
  change: (before: Bank | undefined) => Bank | Refusal,
  given: Given,
): Promise<Saved | Refusal> => {
  // Made once, however often the bank is changed by others meanwhile.
  const newSecret = connectorSecret(real.randomBytes(32))
  let settings: ConnectorSettings | undefined
  const bank = await changeBank(identifier, async (before) => {
    const after = change(before)
    if (after instanceof Refusal) return after
    const refusal = refusalOf(after, given)
    if (refusal) return refusal
    settings = undefined
    if (after.connector !== 'http') return after
    // Before the bank, so that no debit finds a connector without its settings.
    const kept = await changeConnectorSettings(identifier, (known) =>
      reached(known, given, newSecret),
    )
    if (kept instanceof Refusal) return kept
    settings = kept
    return after
  })
  if (bank instanceof Refusal) return bank
  if (!settings) return { bank }
  return { bank, url: settings.url, ...(settings.secret === newSecret ? { newSecret } : {}) }
}

const refusalOf = ({ connector }: Bank, given: Given): Refusal | undefined => {
  if (connector === 'sandbox' && !environment.sandboxBank) {
    return invalid({ connector: ['sandbox is for sandboxes only'] })
  }
  if (connector === 'http') return undefined
  const stray = (['connector-url', 'connector-secret'] as const).find((name) => given[name])
  return stray && invalid({ [stray]: ['is for connector http'] })
}

/** Where a bank with connector http is reached: what was given, else what it was. */
const reached = (
  before: ConnectorSettings | undefined,
  given: Given,
  newSecret: string,
): ConnectorSettings | Refusal => {
  const wanted = given['connector-url'] ?? before?.url
  if (wanted === undefined) return invalid({ 'connector-url': ['is required for connector http'] })
  const url = bankUrl(wanted, { localPeers: environment.localPeers })
  if (url instanceof Refusal) return url
  // A new URL keeps its secret; only another secret changes it.
  return { url, secret: given['connector-secret'] ?? before?.secret ?? newSecret }
}

const connectorSecret = (random: Uint8Array): string =>
  `cs_${Buffer.from(random).toString('base64url')}`

/**
 * The bank first, so that no debit finds a connector without its settings.
 * @returns undefined where there is no such bank
 */
export const disconnect = async (identifier: BankIdentifier): Promise<Bank | undefined> => {
  const bank = await changeBank(
    identifier,
    (before) => before && ({ ...before, connector: 'none' } as const),
  )
  if (bank) await removeConnectorSettings(identifier)
  return bank
}
