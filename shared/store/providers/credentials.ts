import type { Bank, BankIdentifier } from '../../domain/banks/bank.ts'
import type { Credential, ListedCredential } from '../../domain/providers/credential.ts'
import type { Provider } from '../../domain/providers/provider.ts'
import type { RequestLimits } from '../../domain/request-limits.ts'
import type { Jitter } from '../../runtime.ts'
import { findBank } from '../banks/banks.ts'
import { ttlCache } from '../cache.ts'
import type { KeySpan } from '../key-span.ts'
import { keys, sha256 } from '../keys.ts'
import * as db from '../table.ts'
import { transact } from '../transactions.ts'
import { findProvider } from './providers.ts'

export type Caller = (
  | { kind: 'provider'; provider: Provider }
  | { kind: 'bank'; bank: BankIdentifier }
) & {
  /** Whether the credential is valid and its owner is suspended. */
  suspended: boolean
  /** SHA-256 of the token. */
  credential: string
  limits: RequestLimits
}

const callers = ttlCache<{ caller: Caller; expiresAt: number }>(10_000)

/**
 * Finds the caller of a token by its SHA-256, so that no comparison of secrets can be timed. Cached for
 * at most 30 s, which bounds the delay of a revocation.
 */
export const findCaller = async (token: string, now: Date): Promise<Caller | undefined> => {
  const hash = sha256(token)
  const cached = await callers(hash, now, async () => {
    const credential = await db.read<Credential>(keys.credential(hash))
    const caller =
      credential && !credential.revokedAt ? await callerOf(credential, hash) : undefined
    return caller && { caller, expiresAt: Date.parse(credential?.expiresOn ?? '') }
  })
  // Without a date `expiresAt` is NaN, and the credential never expires.
  return cached && cached.expiresAt <= now.getTime() ? undefined : cached?.caller
}

const callerOf = async ({ kind, owner }: Credential, credential: string) => {
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

/** Distinguishes an owner's tokens without helping to guess one. */
const LAST_CHARACTERS = 4

export const lastCharacters = (token: string): string => token.slice(-LAST_CHARACTERS)

/** @returns false when the token is already in use */
export const putCredential = (
  token: string,
  credential: Credential,
  alongside: readonly db.Write[],
  runtime: Jitter,
): Promise<boolean> => {
  const hash = sha256(token)
  const record = db.putWrite(
    {
      ...keys.credential(hash),
      entity: 'credential',
      ...credential,
      lastCharacters: lastCharacters(token),
      byStatus: keys.credentials(credential),
      byTime: `${credential.createdAt}#${hash}`,
    },
    db.isNew,
  )
  return transact([record, ...alongside], runtime)
}

export const credentialId = (token: string): string => sha256(token)

export const findCredential = (id: string) => db.find(keys.credential(id), listed)

/** The place of a credential in the list of its owner: a cursor is too short for the whole hash. */
export const timeKeyOf = ({ createdAt, id }: ListedCredential): string =>
  `${createdAt}#${id.slice(0, 32)}`

const PAGE_SIZE = 100

/** Lists the credentials of one owner, revoked ones too, newest first. The index may lag. */
export async function* credentialPages(
  owner: Pick<ListedCredential, 'kind' | 'owner'>,
  span: KeySpan,
): AsyncGenerator<ListedCredential[]> {
  const query = db.spanQuery(keys.credentials(owner), span)
  const pages = db.queryPages({ ...query, ScanIndexForward: false, Limit: PAGE_SIZE })
  for await (const entries of pages) {
    const items = await db.readMany(entries.map(db.keyOf))
    yield items.map(listed)
  }
}

const listed = (item: db.Item): ListedCredential => ({
  ...db.withoutKeys<Omit<ListedCredential, 'id'>>(item),
  id: keys.credentialHash(String(item.pk)),
})

/** Revokes a credential. A revoked one keeps its time. */
export const revokeCredential = (
  id: string,
  at: Date,
  alongside: readonly db.Write[],
  runtime: Jitter,
): Promise<boolean> => {
  const update = db.updateWrite(keys.credential(id), {
    UpdateExpression: 'SET revokedAt = :at',
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(revokedAt)',
    ExpressionAttributeValues: { ':at': at.toISOString() },
  })
  return transact([update, ...alongside], runtime)
}
