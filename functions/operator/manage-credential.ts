import type * as v from 'valibot'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { defined } from '../../shared/domain/complete.ts'
import { callObject } from '../../shared/domain/operator/approval.ts'
import type { ListedCredential } from '../../shared/domain/providers/credential.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { invalid, Refusal, unlessRefused } from '../../shared/domain/refusal.ts'
import { RANDOM_BYTES, tokenOf } from '../../shared/domain/token.ts'
import { type Author, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { credential } from '../../shared/operator/nouns/providers.ts'
import { pageOf } from '../../shared/operator/pages.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { changeWrites, type Recording } from '../../shared/store/operator/changes.ts'
import * as credentials from '../../shared/store/providers/credentials.ts'
import { findProvider } from '../../shared/store/providers/providers.ts'
import { credentialView, issuedView } from '../../shared/views/operator/credential.ts'

type IssueOptions = v.InferOutput<typeof credential.verbs.issue.options>
type CredentialOptions = v.InferOutput<typeof credential.verbs.show.options>

const ownerOf = async ({ provider, bank }: Pick<IssueOptions, 'provider' | 'bank'>) => {
  if (provider) {
    const exists = await findProvider(provider)
    return exists ? ({ kind: 'provider', owner: provider } as const) : noSuch('provider')
  }
  const exists = bank && (await findBank(bank))
  return exists ? ({ kind: 'bank', owner: bank } as const) : noSuch('bank')
}

const newOwnerOf = async (options: IssueOptions, { at }: Author) => {
  if (options.token && environment.limits === 'production')
    return new Refusal(1400, { details: '--token is for sandboxes only' })
  const expiry = options['expires-on']
  return expiry && expiry <= at ? invalid({ 'expires-on': ['has passed'] }) : ownerOf(options)
}

const issue = async (options: IssueOptions, author: Author, runtime: Runtime) => {
  const owner = await newOwnerOf(options, author)
  if (owner instanceof Refusal) return owner
  const token =
    options.token ?? tokenOf(owner.kind, environment.limits, runtime.randomBytes(RANDOM_BYTES))
  const expiresOn = options['expires-on']?.toISOString()
  const createdAt = runtime.now().toISOString()
  const stored = { ...owner, createdAt, ...defined({ expiresOn }) }
  const id = credentials.credentialId(token)
  const fields = { last_characters: credentials.lastCharacters(token), expires_on: expiresOn }
  const record = changeWrites(recordingOf(id, owner, author), undefined, fields)
  return (await credentials.putCredential(token, stored, record, runtime))
    ? issuedView(token, id, stored)
    : new Refusal(1409, { details: 'this token is in use' })
}

type Owner = Pick<ListedCredential, 'kind' | 'owner'>

const recordingOf = (target: string, { kind, owner }: Owner, author: Author): Recording => ({
  ...author,
  target,
  ...(kind === 'provider' ? { provider: owner as ProviderId } : { bank: owner as BankIdentifier }),
})

const idOf = ({ id, token = '' }: CredentialOptions): string =>
  id ?? credentials.credentialId(token)

export const manageCredential = operatorHandler(credential, {
  issue: {
    run: issue,
    check: async (options, author) =>
      unlessRefused(await newOwnerOf(options, author), () => callObject(options)),
  },
  list: async (options, _, runtime) => {
    const owner = await ownerOf(options)
    if (owner instanceof Refusal) return owner
    return pageOf('credential list', options, runtime, {
      read: (span) => credentials.credentialPages(owner, span),
      keyOf: credentials.timeKeyOf,
      viewOf: credentialView,
    })
  },
  show: async (target) => {
    return unlessRefused(
      (await credentials.findCredential(idOf(target))) ?? noSuch('credential'),
      credentialView,
    )
  },
  /** A revoked credential keeps its time. */
  revoke: async (target, author, runtime) => {
    const id = idOf(target)
    const stored = await credentials.findCredential(id)
    if (!stored) return noSuch('credential')
    const now = runtime.now()
    const recording = recordingOf(id, stored, author)
    const record = changeWrites(recording, {}, { revoked_at: now.toISOString() })
    await credentials.revokeCredential(id, now, record, runtime)
    return { revoked: true }
  },
})

export const handler = manageCredential(real)
