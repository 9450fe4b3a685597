import type * as v from 'valibot'
import { Refusal } from '../../shared/domain/refusal.ts'
import { RANDOM_BYTES, tokenOf } from '../../shared/domain/token.ts'
import { operatorHandler } from '../../shared/operator/handler.ts'
import { credential } from '../../shared/operator/nouns/credential.ts'
import { environment, real } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks.ts'
import {
  credentialId,
  findCredential,
  type ListedCredential,
  listCredentials,
  putCredential,
  revokeCredential,
} from '../../shared/store/credentials.ts'
import { findPartner } from '../../shared/store/partners.ts'

type Wanted = v.InferOutput<typeof credential.verbs.issue.options>
type Named = v.InferOutput<typeof credential.verbs.show.options>

const ownerOf = async ({ provider, bank }: Pick<Wanted, 'provider' | 'bank'>) => {
  if (provider && !bank) {
    const known = await findPartner(provider)
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
  return new Refusal(1400, { details: 'name either --provider or --bank' })
}

const issue = async (wanted: Wanted) => {
  if (wanted.token && environment.limits === 'production') {
    return new Refusal(1400, { details: 'a token of your own is for sandboxes only' })
  }
  const owner = await ownerOf(wanted)
  if (owner instanceof Refusal) return owner
  // Shown once: only its hash is kept.
  const token =
    wanted.token ?? tokenOf(owner.kind, environment.limits, real.randomBytes(RANDOM_BYTES))
  const expires = wanted['expires-on'] ? { expiresOn: wanted['expires-on'] } : {}
  const createdAt = real.now().toISOString()
  const issued = await putCredential(token, { ...owner, createdAt, ...expires })
  return issued
    ? { token, id: credentialId(token), ...owner, expires_on: wanted['expires-on'] ?? null }
    : new Refusal(1409, { details: 'this token is in use' })
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
  return new Refusal(1400, { details: 'name either --id or --token' })
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
  revoke: async (named) => {
    const id = idOf(named)
    if (id instanceof Refusal) return id
    return (await revokeCredential(id, real.now())) ? { revoked: true } : unknown()
  },
})
