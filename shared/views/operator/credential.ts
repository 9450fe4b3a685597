import type { Shows } from '../../domain/complete.ts'
import type { Credential, ListedCredential } from '../../domain/providers/credential.ts'

export type CredentialResult = ReturnType<typeof credentialView>

export const credentialView = ({ id, kind, owner, ...rest }: ListedCredential) =>
  ({
    id,
    kind,
    owner,
    last_characters: rest.lastCharacters,
    created_at: rest.createdAt,
    expires_on: rest.expiresOn ?? null,
    revoked_at: rest.revokedAt ?? null,
  }) satisfies Shows<ListedCredential>

export type IssuedResult = ReturnType<typeof issuedView>

/** Shows the token, which is not stored. */
export const issuedView = (token: string, id: string, { kind, owner, expiresOn }: Credential) => ({
  token,
  id,
  kind,
  owner,
  expires_on: expiresOn ?? null,
})
