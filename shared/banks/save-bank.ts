import type { Bank, BankIdentifier, ConnectorSettings } from '../domain/banks/bank.ts'
import type { Complete } from '../domain/complete.ts'
import { type CallObject, callObject } from '../domain/operator/approval.ts'
import { type Fields, secretField } from '../domain/operator/change.ts'
import { invalid, Refusal, unlessRefused } from '../domain/refusal.ts'
import { environment, type Runtime } from '../runtime.ts'
import { changeBank, findBank } from '../store/banks/banks.ts'
import {
  connectorRemoval,
  connectorWrite,
  findConnectorSettings,
} from '../store/banks/connector-settings.ts'
import { changeWrites, type Recording } from '../store/operator/changes.ts'
import type { Write } from '../store/table.ts'
import { bankUrl } from './bank-url.ts'
import { findWorkAt } from './work-in-progress.ts'

/** The operator's options for connector `http`. */
export type ConnectorOptions = {
  'connector-url'?: string | undefined
  'connector-secret'?: string | undefined
  /** The server at the new URL knows the uuids of the previous one. */
  'knows-uuids'?: 'true' | undefined
}

type BankChange = {
  identifier: BankIdentifier
  change: (previous: Bank | undefined) => Bank | Refusal | Promise<Bank | Refusal>
  options: ConnectorOptions
  /** Removes URL and secret. Otherwise they stay stored while the bank has another connector. */
  removesSettings?: boolean
  recordChange?: RecordChange
}

export type SavedBank = {
  bank: Bank
  url?: string
  /** The secret, if this call has generated it. It cannot be read later. */
  newSecret?: string
}

type ConnectedBank = { bank: Bank | undefined; connector: ConnectorSettings | undefined }

type RecordChange = (previous: ConnectedBank, next: ConnectedBank) => readonly Write[]

/**
 * Saves a bank and its connector settings in one transaction, so that no connector lacks its settings
 * (docs/api.md#bank-connectors).
 */
export const saveBank = async (
  { identifier, change, options, removesSettings, recordChange = () => [] }: BankChange,
  runtime: Runtime,
): Promise<SavedBank | Refusal> => {
  // Generated once: a lost race repeats the change.
  const newSecret = connectorSecret(runtime.randomBytes(32))
  let previous: ConnectorSettings | undefined
  let next: ConnectorSettings | undefined
  let settingsWrites: Write[] = []
  const bank = await changeBank(
    identifier,
    async (stored) => {
      const changed = await applyChange(stored, { identifier, change, options }, newSecret)
      if (changed instanceof Refusal) return changed
      previous = removesSettings || stored?.connector === 'http' ? changed.previous : undefined
      next = changed.next
      settingsWrites = removesSettings ? [connectorRemoval(identifier)] : []
      if (next?.secret !== undefined && next !== changed.previous) {
        settingsWrites = [
          await connectorWrite(identifier, { ...next, secret: next.secret }, runtime),
        ]
      }
      return changed.bank
    },
    (stored, saved) => [
      ...settingsWrites,
      ...recordChange({ bank: stored, connector: previous }, { bank: saved, connector: next }),
    ],
    runtime,
  )
  if (bank instanceof Refusal) return bank
  if (!next) return { bank }
  return { bank, url: next.url, ...(next.secret === newSecret ? { newSecret } : {}) }
}

/** Returns what a change of a bank is about, or the refusal that it would get now; writes nothing. */
export const checkBank = async (request: BankChange): Promise<CallObject | Refusal> => {
  const { identifier: bank } = request
  return unlessRefused(await applyChange(await findBank(bank), request, ''), () =>
    callObject({ bank }),
  )
}

type ChangedBank = {
  bank: Bank
  previous: ConnectorSettings | undefined
  next: ConnectorSettings | undefined
}

const applyChange = async (
  stored: Bank | undefined,
  { identifier, change, options }: BankChange,
  newSecret: string,
): Promise<ChangedBank | Refusal> => {
  const bank = await change(stored)
  if (bank instanceof Refusal) return bank
  const refusal = refusalOf(bank, options)
  if (refusal) return refusal
  const previous = await findConnectorSettings(identifier)
  const next = bank.connector === 'http' ? resolveSettings(previous, options, newSecret) : undefined
  if (next instanceof Refusal) return next
  const isMoved = next ? next.url !== previous?.url : bank.connector !== stored?.connector
  const isKnown = next && options['knows-uuids']
  // A sandbox has only test banks, whose connectors may change at any time.
  const isChecked = stored && isMoved && !isKnown && !environment.sandboxBank
  const reason = isChecked && (await reasonToStay(stored, previous))
  if (!reason) return { bank, previous, next }
  const advice = `, or --knows-uuids true if the new server of ${identifier} knows its uuids`
  return new Refusal(1409, { details: next ? reason + advice : reason })
}

/**
 * Returns why a bank must keep its server now. One that does not know a uuid replies 404 and gets the
 * request again, so the bank would debit or pay twice. Without a server, the service cannot query
 * the bank about a debit. Functions send to the URL in their caches while the bank is live.
 */
const reasonToStay = async (
  { identifier, status }: Bank,
  previous: ConnectorSettings | undefined,
): Promise<string | undefined> => {
  if (previous && status === 'live') return `${identifier} is live: disable it`
  const work = await findWorkAt(identifier)
  return work && `${work}: end it first`
}

const refusalOf = ({ connector }: Bank, options: ConnectorOptions): Refusal | undefined => {
  if (connector === 'sandbox' && !environment.sandboxBank) {
    return invalid({ connector: ['sandbox is for sandboxes only'] })
  }
  if (connector === 'http') return undefined
  const extra = (['connector-url', 'connector-secret'] as const).find((name) => options[name])
  return extra && invalid({ [extra]: ['applies to connector http only'] })
}

/** Returns the settings of connector `http`: the options, else the stored ones, also if unreadable. */
const resolveSettings = (
  previous: ConnectorSettings | undefined,
  options: ConnectorOptions,
  newSecret: string,
): ConnectorSettings | Refusal => {
  const { 'connector-url': url = previous?.url, 'connector-secret': secret = previous?.secret } =
    options
  if (url === undefined) return invalid({ 'connector-url': ['is required for connector http'] })
  if (previous && url === previous.url && secret === previous.secret) return previous
  const normalized = bankUrl(url, { localPeers: environment.localPeers })
  if (normalized instanceof Refusal) return normalized
  const next = {
    url: normalized,
    secret: secret ?? newSecret,
  } satisfies Complete<ConnectorSettings>
  return { ...previous, ...next }
}

const connectorSecret = (random: Uint8Array) => `cs_${Buffer.from(random).toString('base64url')}`

/** Returns a recorder of the fields of a bank and its connector, without the secret itself. */
export const connectionRecorder =
  (recording: Recording, fieldsOf: (bank: Bank) => Fields): RecordChange =>
  (previous, next) => {
    const secret = secretField(previous.connector?.secret, next.connector?.secret)
    const allFieldsOf = ({ bank, connector }: ConnectedBank, connector_secret: Fields[string]) =>
      bank && { ...fieldsOf(bank), connector_url: connector?.url, connector_secret }
    return changeWrites(
      recording,
      allFieldsOf(previous, secret.previous),
      allFieldsOf(next, secret.next),
    )
  }
