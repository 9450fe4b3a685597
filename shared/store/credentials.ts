import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { BankIdentifier } from '../domain/bank.ts'
import type { Partner, PartnerId } from '../domain/partner.ts'
import { environment } from '../runtime.ts'
import { findPartner } from './partners.ts'
import { remembered } from './remembered.ts'
import { keys, read, sha256, table, tableName } from './table.ts'

/** A credential as it is kept: whose it is, and until when. The token itself is nowhere. */
export type Credential = (
  | { kind: 'provider'; owner: PartnerId }
  | { kind: 'bank'; owner: BankIdentifier }
) & { createdAt: string; expiresOn?: string; revokedAt?: string }

/** Who calls: found by the credential. */
export type Caller = { kind: 'provider'; partner: Partner } | { kind: 'bank'; bank: BankIdentifier }

const callers = remembered<Caller>({ entriesMax: 10_000 })

/**
 * The caller behind a token, or undefined. Looked up by its SHA-256, so no comparison of secrets
 * takes place that could be timed; remembered for at most 30 s, which bounds a revocation.
 */
export const findCaller = (token: string, now: Date): Promise<Caller | undefined> => {
  const hash = sha256(token)
  return callers.get(hash, { now, seconds: environment.cacheSeconds }, async () => {
    const credential = await read<Credential>(keys.credential(hash))
    if (!credential || credential.revokedAt) return undefined
    if (credential.expiresOn && new Date(credential.expiresOn) <= now) return undefined
    if (credential.kind === 'bank') return { kind: 'bank', bank: credential.owner }
    const partner = await findPartner(credential.owner)
    return partner && { kind: 'provider', partner }
  })
}

/** @returns false when the token is in use already */
export const putCredential = async (token: string, credential: Credential): Promise<boolean> => {
  try {
    await table.send(
      new PutCommand({
        TableName: tableName(),
        Item: { ...keys.credential(sha256(token)), entity: 'credential', ...credential },
        ConditionExpression: 'attribute_not_exists(pk)',
      }),
    )
    return true
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false
    throw error
  }
}

/** @returns false when there is no such credential */
export const revokeCredential = async (token: string, at: Date): Promise<boolean> => {
  try {
    await table.send(
      new UpdateCommand({
        TableName: tableName(),
        Key: keys.credential(sha256(token)),
        UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :at)',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':at': at.toISOString() },
      }),
    )
    return true
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false
    throw error
  }
}
