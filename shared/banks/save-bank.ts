import type { Bank, BankIdentifier, ConnectorSettings } from '../domain/banks/bank.ts'
import { type Fields, secretField } from '../domain/operator/change.ts'
import { invalid, Refusal } from '../domain/refusal.ts'
import { environment, real } from '../runtime.ts'
import { changeBank, findBank } from '../store/banks/banks.ts'
import {
  connectorRemoval,
  connectorWrite,
  findConnectorSettings,
} from '../store/banks/connector-settings.ts'
import { changeWrites, type Recording } from '../store/operator/changes.ts'
import type { Write } from '../store/table.ts'
import { bankUrl } from './bank-url.ts'

/** A bank and how it is reached, saved together. */

type Given = {
  'connector-url'?: string | undefined
  'connector-secret'?: string | undefined
}

export type SavedBank = {
  bank: Bank
  url?: string
  /** Made just now, and not to be seen again. */
  newSecret?: string
}

type Connection = { bank: Bank | undefined; connector: ConnectorSettings | undefined }

/** Writes in the same transaction, such as the record of the change. */
export type OtherWrites = (before: Connection, after: Connection) => readonly Write[]

/**
 * Both in one write, so that no debit finds a connector without its settings, and no operator's
 * settings stay without a bank.
 * @param change what is made of the bank as it stands; undefined: there is none yet
 */
export const saveBank = async (
  identifier: BankIdentifier,
  change: Change,
  given: Given,
  alongside: OtherWrites = () => [],
): Promise<SavedBank | Refusal> => {
  // Made once, however often the bank is changed by others meanwhile.
  const newSecret = connectorSecret(real.randomBytes(32))
  let known: ConnectorSettings | undefined
  let settings: ConnectorSettings | undefined
  let written: Awaited<ReturnType<typeof connectorWrite>>[] = []
  const bank = await changeBank(
    identifier,
    async (before) => {
      const changed = await connectionAfter(before, identifier, { change, given, newSecret })
      if (changed instanceof Refusal) return changed
      known = changed.known
      settings = changed.settings
      written = settings && settings !== known ? [await connectorWrite(identifier, settings)] : []
      return changed.after
    },
    (before, after) => [
      ...written,
      ...alongside({ bank: before, connector: known }, { bank: after, connector: settings }),
    ],
  )
  if (bank instanceof Refusal) return bank
  if (!settings) return { bank }
  return { bank, url: settings.url, ...(settings.secret === newSecret ? { newSecret } : {}) }
}

/** Returns why a change of a bank would be refused as the bank is now; nothing is written. */
export const checkBank = async (
  identifier: BankIdentifier,
  change: Change,
  given: Given,
): Promise<Refusal | undefined> => {
  const asked = { change, given, newSecret: '' }
  const changed = await connectionAfter(await findBank(identifier), identifier, asked)
  return changed instanceof Refusal ? changed : undefined
}

type Change = (before: Bank | undefined) => Bank | Refusal

/** A bank after a change, with its connector's settings before and after. */
const connectionAfter = async (
  before: Bank | undefined,
  identifier: BankIdentifier,
  { change, given, newSecret }: { change: Change; given: Given; newSecret: string },
): Promise<{ after: Bank; known?: ConnectorSettings; settings?: ConnectorSettings } | Refusal> => {
  const after = change(before)
  if (after instanceof Refusal) return after
  const refusal = refusalOf(after, given)
  if (refusal) return refusal
  const known = await findConnectorSettings(identifier)
  if (after.connector !== 'http') return { after, ...(known ? { known } : {}) }
  const settings = reached(known, given, newSecret)
  if (settings instanceof Refusal) return settings
  return { after, ...(known ? { known } : {}), settings }
}

const refusalOf = ({ connector }: Bank, given: Given): Refusal | undefined => {
  if (connector === 'sandbox' && !environment.sandboxBank) {
    return invalid({ connector: ['sandbox is for sandboxes only'] })
  }
  if (connector === 'http') return undefined
  const stray = (['connector-url', 'connector-secret'] as const).find((name) => given[name])
  return stray && invalid({ [stray]: ['applies to connector http only'] })
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
export const disconnect = async (
  identifier: BankIdentifier,
  alongside: OtherWrites = () => [],
): Promise<Bank | undefined> => {
  let known: ConnectorSettings | undefined
  return changeBank(
    identifier,
    async (before) => {
      known = await findConnectorSettings(identifier)
      return before && ({ ...before, connector: 'none' } as const)
    },
    (before, after) => [
      connectorRemoval(identifier),
      ...alongside({ bank: before, connector: known }, { bank: after, connector: undefined }),
    ],
  )
}

/** The fields of a bank and its connector in the record of a change. */
export const recordsConnection =
  (recording: Recording, fieldsOf: (bank: Bank) => Fields): OtherWrites =>
  (before, after) => {
    const secret = secretField(before.connector?.secret, after.connector?.secret)
    return changeWrites(
      recording,
      before.bank && {
        ...fieldsOf(before.bank),
        connector_url: before.connector?.url,
        connector_secret: secret.before,
      },
      after.bank && {
        ...fieldsOf(after.bank),
        connector_url: after.connector?.url,
        connector_secret: secret.after,
      },
    )
  }
