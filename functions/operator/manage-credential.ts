import * as v from 'valibot'
import { BankIdentifier } from '../../shared/domain/bank.ts'
import { PartnerId } from '../../shared/domain/partner.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { options } from '../../shared/operator/options.ts'
import { operatorHandler, verb } from '../../shared/operator/verbs.ts'
import { environment, real } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks.ts'
import { type Credential, putCredential, revokeCredential } from '../../shared/store/credentials.ts'
import { findPartner } from '../../shared/store/partners.ts'

const PREFIXES = { provider: 'sk', bank: 'bt' } as const

/** Shown once: only its hash is kept. */
const newToken = (kind: Credential['kind']): string => {
  const use = environment.limits === 'production' ? 'live' : 'test'
  const random = Buffer.from(real.randomBytes(24)).toString('base64url')
  return `${PREFIXES[kind]}_${use}_${random}`
}

type Wanted = {
  provider?: PartnerId | undefined
  bank?: BankIdentifier | undefined
  token?: string | undefined
  'expires-on'?: string | undefined
}

const ownerOf = async ({ provider, bank }: Wanted) => {
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
  const token = wanted.token ?? newToken(owner.kind)
  const expires = wanted['expires-on'] ? { expiresOn: wanted['expires-on'] } : {}
  const createdAt = real.now().toISOString()
  const issued = await putCredential(token, { ...owner, createdAt, ...expires })
  return issued
    ? { token, ...owner, expires_on: wanted['expires-on'] ?? null }
    : new Refusal(1409, { details: 'this token is in use' })
}

export const handler = operatorHandler({
  issue: verb(
    options({
      provider: v.optional(PartnerId),
      bank: v.optional(BankIdentifier),
      'expires-on': v.optional(
        v.pipe(
          v.string(),
          v.isoTimestamp('must be a time like 2027-01-31T00:00:00Z'),
          v.transform((text) => new Date(text).toISOString()),
        ),
      ),
      token: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_]{8,100}$/))),
    }),
    issue,
  ),
  revoke: verb(options({ token: v.string() }), async ({ token }) =>
    (await revokeCredential(token, real.now()))
      ? { revoked: true }
      : new Refusal(1404, { details: 'no such credential' }),
  ),
})
