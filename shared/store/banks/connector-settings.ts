import {
  type BankIdentifier,
  behaviourAt,
  type ConnectorSettings,
  UnreadableSecret,
} from '../../domain/banks/bank.ts'
import { defined } from '../../domain/complete.ts'
import { environment, type Runtime } from '../../runtime.ts'
import { ttlCache } from '../cache.ts'
import { keys } from '../keys.ts'
import { type SecretOwner, seal, unseal } from '../sealing.ts'
import * as db from '../table.ts'
import { findBank } from './banks.ts'
import { findClientCertificate } from './client-certificate.ts'

/**
 * Reads a bank's URL and secret, uncached, so that a change takes effect immediately.
 * The secret is absent if no key opens it.
 * @throws UnreadableSecret while Secrets Manager does not return the key
 */
export const findConnectorSettings = (bank: BankIdentifier) =>
  db.find(keys.connector(bank), async (item) => {
    const { secret, ...settings } = db.withoutKeys<Required<ConnectorSettings>>(item)
    return { ...settings, ...defined({ secret: await opened(secret, bank) }) }
  })

const opened = (sealed: string, bank: BankIdentifier): Promise<string | undefined> =>
  unseal(sealed, ownerOf(bank)).catch((cause: unknown) => {
    throw new UnreadableSecret(`The key of the secret of bank ${bank} cannot be read`, { cause })
  })

const settings = ttlCache<ConnectorSettings>(1_000)

/** Returns a bank's URL and secret, cached, for the many requests of submissions. */
export const recentConnectorSettings = (bank: BankIdentifier, now: Date) =>
  settings(bank, now, () => findConnectorSettings(bank))

/** Returns what a connector needs to connect to its bank. */
export const connectionConfig = (
  { now, wallTime, pause }: Pick<Runtime, 'now' | 'wallTime' | 'pause'>,
  timeoutSeconds: number,
) => ({
  settingsOf: findConnectorSettings,
  behaviourOf: async (identifier: BankIdentifier) => {
    const bank = await findBank(identifier)
    return bank && behaviourAt(bank, now())
  },
  wallTime,
  pause,
  timeoutSeconds,
  localPeers: environment.localPeers,
  clientCertificate: findClientCertificate,
})

export const connectorWrite = async (
  bank: BankIdentifier,
  settings: Required<ConnectorSettings>,
  runtime: Pick<Runtime, 'randomBytes'>,
) => {
  const secret = await seal(settings.secret, ownerOf(bank), runtime)
  return db.putWrite({ ...keys.connector(bank), entity: 'connector', ...settings, secret })
}

export const connectorRemoval = (bank: BankIdentifier) => ({
  Delete: { TableName: db.tableName(), Key: keys.connector(bank) },
})

const ownerOf = (id: BankIdentifier): SecretOwner => ({ kind: 'connector', id })
