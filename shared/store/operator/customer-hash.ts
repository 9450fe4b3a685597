import { createHmac } from 'node:crypto'
import type { Runtime } from '../../runtime.ts'
import { keys } from '../keys.ts'
import { optimistically } from '../optimistic.ts'
import { type SecretOwner, seal, unseal } from '../sealing.ts'
import * as db from '../table.ts'

/**
 * Keyed hashes (HMAC-SHA256) name customers in records that outlive an erasure. Their key is random
 * and sealed in the table, so that it survives rotations of the sealing key, and nobody with the table
 * or a backup alone can try phone numbers.
 */

const OWNER: SecretOwner = { kind: 'customerHash', id: 'customers' }
const KEY_BYTES = 32
const HASH_CHARACTERS = 22

type HashKeyItem = { secret: string }

const hashWith = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('base64url').slice(0, HASH_CHARACTERS)

/** No version of the sealing key opens the key of the hashes. A lost version can return. */
export class UnreadableHashKey extends Error {
  override readonly name = 'UnreadableHashKey'
  override readonly message = 'The key of the customer hashes cannot be opened'
}

/**
 * Returns a function that hashes phones, accounts and names. The first call creates the key. Only a
 * change of an account, or a request for one, replaces an unreadable one: earlier records are then no longer
 * found.
 * @throws UnreadableHashKey
 */
export const customerHasher = async (
  runtime: Pick<Runtime, 'randomBytes'>,
  { replaces = false } = {},
): Promise<(text: string) => string> => {
  const key = await optimistically('The key of the customer hashes', async () => {
    const item = await db.read<HashKeyItem>(keys.hashKey)
    const current = item && (await unseal(item.secret, OWNER))
    if (current !== undefined) return current
    if (item && !replaces) throw new UnreadableHashKey()
    const next = Buffer.from(runtime.randomBytes(KEY_BYTES)).toString('base64url')
    const secret = await seal(next, OWNER, runtime)
    const isWritten = await db.putIf(
      { ...keys.hashKey, entity: 'hash-key', secret },
      item
        ? {
            ConditionExpression: 'secret = :unreadable',
            ExpressionAttributeValues: { ':unreadable': item.secret },
          }
        : db.isNew,
    )
    return isWritten ? next : undefined
  })
  return (text) => hashWith(key, text)
}

/**
 * Returns the hash by which records name a customer; undefined before any such record.
 * @throws UnreadableHashKey
 */
export const findCustomerHash = async (text: string): Promise<string | undefined> => {
  const item = await db.read<HashKeyItem>(keys.hashKey)
  if (!item) return undefined
  const key = await unseal(item.secret, OWNER)
  if (key === undefined) throw new UnreadableHashKey()
  return hashWith(key, text)
}
