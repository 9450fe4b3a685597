import type { BankIdentifier } from '../banks/bank.ts'
import type { ProviderId } from './provider.ts'

/** A stored credential. The token itself is not stored. */
export type Credential = (
  | { kind: 'provider'; owner: ProviderId }
  | { kind: 'bank'; owner: BankIdentifier }
) & { createdAt: string; expiresOn?: string; revokedAt?: string }

/** A credential as operators see it. The id is the hash of its token. */
export type ListedCredential = Omit<Credential, 'kind' | 'owner'> & {
  id: string
  kind: Credential['kind']
  owner: string
  lastCharacters: string
}
