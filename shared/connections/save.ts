import { bankUrl } from '../banks/bank-url.ts'
import type { Bank, BankIdentifier, ConnectorSettings } from '../domain/bank.ts'
import { invalid, Refusal } from '../domain/refusal.ts'
import { environment, real } from '../runtime.ts'
import { changeBank } from '../store/banks.ts'
import {
  connectorRemoval,
  connectorWrite,
  findConnectorSettings,
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

/**
 * Both in one write, so that no debit finds a connector without its settings, and no operator's
 * settings stay without a bank.
 * @param change what is made of the bank as it stands; undefined: there is none yet
 */
export const saveBank = async (
  identifier: BankIdentifier,
  change: (before: Bank | undefined) => Bank | Refusal,
  given: Given,
): Promise<Saved | Refusal> => {
  // Made once, however often the bank is changed by others meanwhile.
  const newSecret = connectorSecret(real.randomBytes(32))
  let settings: ConnectorSettings | undefined
  let written: Awaited<ReturnType<typeof connectorWrite>>[] = []
  const bank = await changeBank(
    identifier,
    async (before) => {
      const after = change(before)
      if (after instanceof Refusal) return after
      const refusal = refusalOf(after, given)
      if (refusal) return refusal
      settings = undefined
      written = []
      if (after.connector !== 'http') return after
      const known = await findConnectorSettings(identifier)
      const wanted = reached(known, given, newSecret)
      if (wanted instanceof Refusal) return wanted
      settings = wanted
      if (wanted !== known) written = [await connectorWrite(identifier, wanted)]
      return after
    },
    () => written,
  )
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
  { 'connector-url': url = before?.url, 'connector-secret': secret = before?.secret }: Given,
  newSecret: string,
): ConnectorSettings | Refusal => {
  if (url === undefined) return invalid({ 'connector-url': ['is required for connector http'] })
  if (before && url === before.url && secret === before.secret) return before
  const judged = bankUrl(url, { localPeers: environment.localPeers })
  if (judged instanceof Refusal) return judged
  // A new URL keeps its secret; only another secret changes it.
  return { url: judged, secret: secret ?? newSecret }
}

const connectorSecret = (random: Uint8Array): string =>
  `cs_${Buffer.from(random).toString('base64url')}`

/** @returns undefined where there is no such bank */
export const disconnect = (identifier: BankIdentifier): Promise<Bank | undefined> =>
  changeBank(
    identifier,
    (before) => before && ({ ...before, connector: 'none' } as const),
    () => [connectorRemoval(identifier)],
  )
