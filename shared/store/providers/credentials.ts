import type { Bank, BankIdentifier } from '../../domain/banks/bank.ts'
import type { Provider, ProviderId } from '../../domain/providers/provider.ts'
import type { RequestLimits } from '../../domain/providers/request-limits.ts'
import { environment, real } from '../../runtime.ts'
import { findBank } from '../banks/banks.ts'
import { ttlCache } from '../cache.ts'
import { keys, sha256 } from '../keys.ts'
import { queryAll, read, readMany, tableName, type Write, withoutKeys } from '../table.ts'
import { transact } from '../transactions.ts'
import { findProvider } from './providers.ts'

/** A credential as it is kept: whose it is, and until when. The token itself is nowhere. */
export type Credential = (
  | { kind: 'provider'; owner: ProviderId }
  | { kind: 'bank'; owner: BankIdentifier }
) & { createdAt: string; expiresOn?: string; revokedAt?: string }

/** What is shown of one: its id is the hash of its token. */
export type ListedCredential = Omit<Credential, 'kind' | 'owner'> & {
  id: string
  kind: Credential['kind']
  owner: string
  lastCharacters: string
}

/** Who calls: found by the credential. */
export type Caller = (
  | { kind: 'provider'; provider: Provider }
  | { kind: 'bank'; bank: BankIdentifier }
) & {
  /** A good credential of somebody who may not use it. */
  suspended: boolean
  /** SHA-256 of the token. */
  credential: string
  /** Overrides of the published request limits. */
  limits: RequestLimits
}

type Known = { caller: Caller; expiresAt: number }

const callers = ttlCache<Known>({ entriesMax: 10_000 })

/**
 * The caller behind a token, or undefined. Looked up by its SHA-256, so no comparison of secrets
 * takes place that could be timed; remembered for at most 30 s, which bounds a revocation.
 */
export const findCaller = async (token: string, now: Date): Promise<Caller | undefined> => {
  const hash = sha256(token)
  const when = { now, seconds: environment.cacheSeconds }
  const known = await callers.get(hash, when, async () => {
    const credential = await read<Credential>(keys.credential(hash))
    const caller =
      credential && !credential.revokedAt ? await callerOf(credential, hash) : undefined
    return caller && { caller, expiresAt: Date.parse(credential?.expiresOn ?? '') }
  })
  // Remembered or not, what has expired has expired; without a date nothing is ever due.
  return known && known.expiresAt <= now.getTime() ? undefined : known?.caller
}

const callerOf = async (
  { kind, owner }: Credential,
  credential: string,
): Promise<Caller | undefined> => {
  if (kind === 'bank') {
    const bank = await findBank(owner)
    return bank && { kind, bank: bank.identifier, ...standing(bank), credential }
  }
  const provider = await findProvider(owner)
  return provider && { kind, provider, ...standing(provider), credential }
}

const standing = ({
  status,
  requestLimits = {},
}: Pick<Bank | Provider, 'status' | 'requestLimits'>) => ({
  suspended: status === 'suspended',
  limits: requestLimits,
})

/** Enough to tell a token from others that its owner has, and no help in guessing it. */
const LAST_CHARACTERS = 4

export const lastCharacters = (token: string): string => token.slice(-LAST_CHARACTERS)

/**
 * @param alongside writes in the same transaction, such as the record of the change
 * @returns false when the token is in use already
 */
export const putCredential = (
  token: string,
  credential: Credential,
  alongside: readonly Write[] = [],
): Promise<boolean> => {
  const hash = sha256(token)
  const Put = {
    TableName: tableName(),
    Item: {
      ...keys.credential(hash),
      entity: 'credential',
      ...credential,
      lastCharacters: lastCharacters(token),
      byStatus: keys.credentials(credential),
      byTime: `${credential.createdAt}#${hash}`,
    },
    ConditionExpression: 'attribute_not_exists(pk)',
  }
  return transact([{ Put }, ...alongside], real)
}

export const credentialId = (token: string): string => sha256(token)

export const findCredential = async (id: string): Promise<ListedCredential | undefined> => {
  const item = await read<Record<string, unknown>>(keys.credential(id))
  return item && listed(item)
}

/** Of one owner, oldest first, revoked ones too; a new one a little late. */
export const listCredentials = async (
  owner: Pick<ListedCredential, 'kind' | 'owner'>,
): Promise<ListedCredential[]> => {
  const found = await queryAll({
    IndexName: 'by-status',
    KeyConditionExpression: 'byStatus = :owner',
    ExpressionAttributeValues: { ':owner': keys.credentials(owner) },
  })
  const items = await readMany(found.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })))
  return items.map(listed).sort((one, other) => (one.createdAt < other.createdAt ? -1 : 1))
}

const listed = ({ byStatus, byTime, ...item }: Record<string, unknown>): ListedCredential => ({
  ...withoutKeys<Omit<ListedCredential, 'id'>>(item),
  id: keys.credentialHash(String(item.pk)),
})

/**
 * Revokes a credential that exists. One that is revoked keeps its time.
 * @param alongside writes in the same transaction, such as the record of the change
 */
export const revokeCredential = (
  id: string,
  at: Date,
  alongside: readonly Write[] = [],
): Promise<boolean> =>
  transact(
    [
      {
        Update: {
          TableName: tableName(),
          Key: keys.credential(id),
          UpdateExpression: 'SET revokedAt = :at',
          ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(revokedAt)',
          ExpressionAttributeValues: { ':at': at.toISOString() },
        },
      },
      ...alongside,
    ],
    real,
  )
