import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import { clientLimits } from '../client-limits.ts'
import { environment, type Runtime, wallTime } from '../runtime.ts'
import { ttlCache } from './cache.ts'

/**
 * Seals secrets for the table: AES-256-GCM with the owner as additional data. An export of the table
 * reveals none, and a secret that is copied to another item does not open. A sealed text is the id of
 * the key's version, a colon, and base64; a text without a version is from before versions were named.
 */

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
/** A version never changes, so its cache lives longer than others. */
const CACHE_FACTOR = 10
const VERSIONS_MAX = 100

/** The owners of sealed secrets. `secret reseal` has a row for each kind. */
const owners = {
  webhook: (provider) => provider,
  requestSigning: (provider) => `REQUESTS#${provider}`,
  connector: (bank) => `BANK#${bank}`,
  approval: (id) => `APPROVAL#${id}`,
  customerHash: (id) => `HASH#${id}`,
} satisfies Record<string, (id: string) => string>

export type SealedKind = keyof typeof owners
export type SecretOwner = { kind: SealedKind; id: string }

const dataOf = ({ kind, id }: SecretOwner): Buffer => Buffer.from(owners[kind](id))

/** A fixed text in a test has no version. */
type SealingKey = { version: string | undefined; bytes: Buffer }

/** White space around the text does not count: command lines and files add it. */
const keyFrom = (text: string | undefined, version?: string): SealingKey => {
  const trimmed = text?.trim()
  if (!trimmed) throw new Error('The sealing key is empty')
  return { version, bytes: createHash('sha256').update(trimmed).digest() }
}

type Choice = { VersionId: string } | { VersionStage: 'AWSCURRENT' | 'AWSPREVIOUS' }

let client: SecretsManagerClient | undefined

/** Reads a version of the key from Secrets Manager. @returns undefined if it does not exist */
const fetchKey = async (choice: Choice): Promise<SealingKey | undefined> => {
  client ??= new SecretsManagerClient(clientLimits.secrets)
  const command = new GetSecretValueCommand({
    SecretId: environment.sealingKey.secretArn,
    ...choice,
  })
  try {
    const { SecretString, VersionId } = await client.send(command)
    return keyFrom(SecretString, VersionId)
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined
    throw error
  }
}

const keys = ttlCache<SealingKey>(VERSIONS_MAX, CACHE_FACTOR)

const cachedKey = (choice: Choice): Promise<SealingKey | undefined> => {
  const { fixed } = environment.sealingKey
  if (fixed) return Promise.resolve(keyFrom(fixed))
  return keys(Object.values(choice).join(), wallTime(), () => fetchKey(choice))
}

/** Returns the current key, uncached, so that a rotation applies to the next secret. */
const currentKey = async (): Promise<SealingKey> => {
  const { fixed } = environment.sealingKey
  const key = fixed ? keyFrom(fixed) : await fetchKey({ VersionStage: 'AWSCURRENT' })
  if (!key) throw new Error('The sealing key does not exist')
  return key
}

export const seal = async (
  secret: string,
  owner: SecretOwner,
  runtime: Pick<Runtime, 'randomBytes'>,
): Promise<string> => {
  const { version, bytes } = await currentKey()
  const iv = runtime.randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, bytes, iv).setAAD(dataOf(owner))
  const sealed = [iv, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]
  const text = Buffer.concat(sealed).toString('base64')
  return version === undefined ? text : `${version}:${text}`
}

/**
 * Opens a sealed text with the version that it names, else with the current and the previous one: a
 * key that was copied to another Region may have other ids there.
 * @returns undefined if no version opens the text for this owner
 * @throws Error while Secrets Manager does not return the key
 */
export const unseal = async (sealed: string, owner: SecretOwner): Promise<string | undefined> => {
  const [text = '', VersionId] = sealed.split(':').reverse()
  const choices: Choice[] = [
    ...(VersionId ? [{ VersionId }] : []),
    { VersionStage: 'AWSCURRENT' },
    { VersionStage: 'AWSPREVIOUS' },
  ]
  for (const choice of choices) {
    const key = await cachedKey(choice)
    const secret = key && decipher(Buffer.from(text, 'base64'), key, owner)
    if (secret !== undefined) return secret
  }
  return undefined
}

const decipher = (
  sealed: Buffer,
  { bytes }: SealingKey,
  owner: SecretOwner,
): string | undefined => {
  try {
    const opening = createDecipheriv(ALGORITHM, bytes, sealed.subarray(0, IV_BYTES))
      .setAAD(dataOf(owner))
      .setAuthTag(sealed.subarray(-TAG_BYTES))
    const opened = [opening.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), opening.final()]
    return Buffer.concat(opened).toString('utf8')
  } catch {
    // Another key or owner, or a changed text.
    return undefined
  }
}
