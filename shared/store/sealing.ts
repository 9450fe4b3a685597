import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import { getSecret } from '@aws-lambda-powertools/parameters/secrets'
import { environment, type Runtime } from '../runtime.ts'

/**
 * Seals secrets for the table: AES-256-GCM with the owner as additional data. An export of the table
 * reveals none, and a secret that is copied to another item does not open.
 */

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
/** The key never changes, so its cache lives longer than others. */
const CACHE_FACTOR = 10

/** Returns the key of the stage: from Secrets Manager, or a fixed text in a local sandbox. */
const key = async (): Promise<Buffer> => {
  const { fixed, secretArn } = environment.sealingKey
  const maxAge = CACHE_FACTOR * environment.cacheSeconds
  const text = fixed ?? (await getSecret(secretArn, { maxAge }))
  if (typeof text !== 'string' || text === '') throw new Error('The sealing key is empty')
  return createHash('sha256').update(text).digest()
}

export const seal = async (
  secret: string,
  owner: string,
  runtime: Pick<Runtime, 'randomBytes'>,
): Promise<string> => {
  const iv = runtime.randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, await key(), iv).setAAD(Buffer.from(owner))
  const sealed = [iv, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(sealed).toString('base64')
}

/** @throws Error for another owner, another key, or a changed secret */
export const unseal = async (sealed: string, owner: string): Promise<string> => {
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv(ALGORITHM, await key(), bytes.subarray(0, IV_BYTES))
    .setAAD(Buffer.from(owner))
    .setAuthTag(bytes.subarray(-TAG_BYTES))
  const opened = [decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]
  return Buffer.concat(opened).toString('utf8')
}
