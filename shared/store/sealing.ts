import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import { getSecret } from '@aws-lambda-powertools/parameters/secrets'
import { environment, real } from '../runtime.ts'

/**
 * Secrets of providers and banks are in the table only sealed: AES-256-GCM, bound to their owner, so that
 * neither an export of the table nor a swap of two items gives one away.
 */

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
/** It never changes, so it is trusted for longer than what an operator may change. */
const TRUSTED_TIMES = 10

/** The stage's key: a secret in Secrets Manager, or on one machine a fixed text. */
const key = async (): Promise<Buffer> => {
  const { fixed, secretArn } = environment.sealingKey
  const maxAge = TRUSTED_TIMES * environment.cacheSeconds
  const text = fixed ?? (await getSecret(secretArn, { maxAge }))
  if (typeof text !== 'string' || text === '') throw new Error('The sealing key is empty')
  return createHash('sha256').update(text).digest()
}

/** @param owner whose secret it is; it opens for nobody else */
export const seal = async (secret: string, owner: string): Promise<string> => {
  const iv = real.randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, await key(), iv).setAAD(Buffer.from(owner))
  const sealed = [iv, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(sealed).toString('base64')
}

/** @throws Error when it was sealed for another owner, under another key, or changed since */
export const unseal = async (sealed: string, owner: string): Promise<string> => {
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv(ALGORITHM, await key(), bytes.subarray(0, IV_BYTES))
    .setAAD(Buffer.from(owner))
    .setAuthTag(bytes.subarray(-TAG_BYTES))
  const opened = [decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]
  return Buffer.concat(opened).toString('utf8')
}
