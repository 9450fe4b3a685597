import type * as v from 'valibot'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { RANDOM_BYTES, tokenOf } from '../../shared/domain/token.ts'
import { type Author, operatorHandler } from '../../shared/operator/handler.ts'
import { credential } from '../../shared/operator/nouns/credential.ts'
import { environment, real } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { changeWrites, type Recording } from '../../shared/store/operator/changes.ts'
import {
  credentialId,
  findCredential,
  type ListedCredential,
  lastCharacters,
  listCredentials,
  putCredential,
  revokeCredential,
} from '../../shared/store/providers/credentials.ts'
import { findProvider } from '../../shared/store/providers/providers.ts'

type Wanted = v.InferOutput<typeof credential.verbs.issue.options>
type Named = v.InferOutput<typeof credential.verbs.show.options>

const ownerOf = async ({ provider, bank }: Pick<Wanted, 'provider' | 'bank'>) => {
  if (provider && !bank) {
    const known = await findProvider(provider)
    return known
      ? ({ kind: 'provider', owner: provider } as const)
      : new Refusal(1404, { details: 'no such provider' })
  }
  if (bank && !provider) {
    const known = await findBank(bank)
    return known
      ? ({ kind: 'bank', owner: bank } as const)
      : new Refusal(1404, { details: 'no such bank' })
  }
  return new Refusal(1400, { details: 'either --provider or --bank is required' })
}

const issue = async (wanted: Wanted, author: Author) => {
  if (wanted.token && environment.limits === 'production') {
    return new Refusal(1400, { details: '--token is for sandboxes only' })
  }
  const owner = await ownerOf(wanted)
  if (owner instanceof Refusal) return owner
  // Shown once: only its hash is kept.
  const token =
    wanted.token ?? tokenOf(owner.kind, environment.limits, real.randomBytes(RANDOM_BYTES))
  const expires = wanted['expires-on'] ? { expiresOn: wanted['expires-on'] } : {}
  const createdAt = real.now().toISOString()
  const id = credentialId(token)
  const recording = recordingOf(id, owner, author)
  const fields = { last_characters: lastCharacters(token), expires_on: expires.expiresOn }
  const record = changeWrites(recording, undefined, fields)
  const issued = await putCredential(token, { ...owner, createdAt, ...expires }, record)
  return issued
    ? { token, id, ...owner, expires_on: wanted['expires-on'] ?? null }
    : new Refusal(1409, { details: 'this token is in use' })
}

type Owner = Pick<ListedCredential, 'kind' | 'owner'>

const recordingOf = (target: string, { kind, owner }: Owner, author: Author): Recording => ({
  ...author,
  target,
  ...(kind === 'provider' ? { provider: owner as ProviderId } : { bank: owner as BankIdentifier }),
})

/** A credential that is revoked stays as it is. */
const revoke = async (id: string, author: Author) => {
  const found = await findCredential(id)
  if (!found) return unknown()
  const now = real.now()
  const record = changeWrites(recordingOf(id, found, author), {}, { revoked_at: now.toISOString() })
  if (!found.revokedAt) await revokeCredential(id, now, record)
  return { revoked: true }
}

const view = ({ id, kind, owner, ...rest }: ListedCredential) => ({
  id,
  kind,
  owner,
  last_characters: rest.lastCharacters,
  created_at: rest.createdAt,
  expires_on: rest.expiresOn ?? null,
  revoked_at: rest.revokedAt ?? null,
})

const idOf = ({ id, token }: Named): string | Refusal => {
  if (id !== undefined && token === undefined) return id
  if (token !== undefined && id === undefined) return credentialId(token)
  return new Refusal(1400, { details: 'either --id or --token is required' })
}

const unknown = () => new Refusal(1404, { details: 'no such credential' })

export const handler = operatorHandler(credential, {
  issue,
  list: async (wanted) => {
    const owner = await ownerOf(wanted)
    return owner instanceof Refusal ? owner : (await listCredentials(owner)).map(view)
  },
  show: async (named) => {
    const id = idOf(named)
    if (id instanceof Refusal) return id
    const found = await findCredential(id)
    return found ? view(found) : unknown()
  },
  revoke: async (named, author) => {
    const id = idOf(named)
    return id instanceof Refusal ? id : revoke(id, author)
  },
})
