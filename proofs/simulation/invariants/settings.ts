import { isDeepStrictEqual } from 'node:util'
import type { Item } from '../../../sandbox/aws/table/change.ts'
import { codeIn, membersOf } from './calls.ts'
import { ownerIn } from './raw-items.ts'
import type { Check, Checks } from './rules.ts'
import type { Secret, Values } from './setting-timeline.ts'

/** 57: settings stay until operators change them, and a change takes effect in time. */

// biome-ignore lint/suspicious/noExplicitAny: stored settings are read member by member
type Decoder = (item: any) => [subject: string, values: Partial<Values>]

/** The values in stored settings, by entity. Secrets are sealed: signatures show them. */
const decoders: Record<string, Decoder> = {
  provider: ({ id, name, status, dailyLimit, feeSchedule, requestLimits }) => {
    const chargesPerMinute = requestLimits?.charge ?? 1_000
    const isActive = status === 'active'
    return [id, { name, isActive, dailyLimit, feeSchedule, chargesPerMinute }]
  },
  payee: ({ pk, settlementAccount: to }) => {
    const account = to && { bank: to.bank, number: to.accountNumber, name: to.accountName }
    return [ownerIn(pk), { account }]
  },
  webhook: ({ pk, url, events, attemptsMax }) => {
    return [ownerIn(pk), { webhook: { url, events, attemptsMax } }]
  },
  bank: ({
    identifier,
    status,
    whenDown,
    accountLookup = 'off',
    payoutDays = 'all',
    behaviour,
  }) => [
    identifier,
    { isActive: status === 'live', whenDown, accountLookup, payoutDays, behaviour: behaviour?.as },
  ],
  connector: ({ pk, url: connectorUrl }) => [ownerIn(pk), { connectorUrl }],
  account: ({ pk, sk, accountNumber: customer }) => [`${ownerIn(pk)} ${ownerIn(sk)}`, { customer }],
}

/** 57: only operators write settings, with the values that they set. A charge adds an account (66). */
const settingsStay: Check = ({ observations, timeline }, report) => {
  for (const { before, after, at, by } of observations.changes) {
    const item = (after ?? before) as Item
    const [subject, values] = (by && decoders[String(item.entity)]?.(item)) ?? ['', {}]
    const isFound = by?.name === 'charge' && item.entity === 'account'
    if (subject && !isFound && !by?.name.startsWith('manage-'))
      report(subject, `is written by ${by?.name}`)
    for (const [name, value] of Object.entries(values) as [keyof Values, unknown][]) {
      const possible = timeline.during(name, subject, at, at)
      const stored = plain(after && value)
      if (possible.some((one) => isDeepStrictEqual(plain(one), stored))) continue
      report(subject, `has the ${name} ${JSON.stringify(stored)}, not ${JSON.stringify(possible)}`)
    }
  }
}

const plain = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value))

/** Reports whether a secret may have been accepted in a period. */
const isAccepted = (secret: Secret | undefined, used: string | undefined, from: number) =>
  secret === undefined ||
  secret.current === undefined ||
  used === secret.current ||
  (used !== undefined && from <= secret.until && [used, undefined].includes(secret.previous))

const isRejected = (secret: Secret | undefined, used: string | undefined, until: number) =>
  secret !== undefined &&
  used !== secret.current &&
  !(until < secret.until && used === secret.previous)

const DISABLED = 1403

/** 57: a revoked or unsigned request is refused, and that of a disabled provider; others are not. */
const credentialsDecide: Check = ({ observations, timeline }, report) => {
  const { skew, staleMs } = observations.setup
  const keyless = observations.strikes.filter(({ name }) => name === 'sealing key missing')
  for (const { name, caller, token, secret, at, reply } of observations.calls) {
    if (!caller || !token || !reply || reply.status === 429 || reply.status >= 500) continue
    const about = `${name} of ${caller.id} at ${new Date(at).toISOString()}`
    const valid = timeline.recent('isActive', token, at, reply.at)
    const active = timeline.recent('isActive', caller.id, at, reply.at)
    const secrets = timeline.recent('requestSecret', caller.id, at, reply.at)
    const isRefused = reply.status === 401
    const isSuspended = codeIn(membersOf(reply.body)) === DISABLED
    const isUnsigned = !secrets.some((one) => isAccepted(one, secret, at - staleMs - skew))
    // An inactive bank may call.
    const isDisabled = caller.kind === 'provider' && !active.includes(true)
    // Without a key, no signature is right; a function caches that no key opened the secret.
    const isKeyless = keyless.some(
      (one) => one.by === name && one.at >= at - staleMs && one.at <= reply.at,
    )
    const mayBeRefused =
      valid.includes(false) ||
      secrets.some((one) => isRejected(one, secret, reply.at + skew) || (one && isKeyless))
    const isServed = !isRefused && !isSuspended
    if (isServed && isUnsigned) report(about, 'was served without its signature')
    if (isServed && isDisabled) report(about, 'was served while disabled')
    if (!isRefused && !valid.includes(true)) report(about, 'was served with a revoked credential')
    if (isRefused && !mayBeRefused) report(about, 'was refused with a valid credential')
    if (isSuspended && !active.includes(false)) report(about, 'was refused as disabled')
  }
}

const NOT_LIVE = 1402

/** 57: an inactive bank gets no new debit, an active one does. */
const banksAreOpen: Check = ({ debits, timeline, startOf, observations }, report) => {
  for (const [reference, { item, changes }] of debits) {
    const { at = 0, by } = changes[0] ?? {}
    const open = timeline.recent('isActive', item.bank.identifier, startOf(by?.invocation, at), at)
    if (by && !open.includes(true)) report(reference, 'was charged while its bank was inactive')
  }
  for (const { name, sent, at, reply } of observations.calls) {
    if (name !== 'charge' || codeIn(membersOf(reply?.body)) !== NOT_LIVE) continue
    const bank = String(membersOf(sent).bank_identifier)
    const open = timeline.recent('isActive', bank, at, reply?.at ?? at)
    if (!observations.setup.banks.includes(bank) || open.includes(false)) continue
    report(`a charge at ${bank}`, 'was refused, but the bank is active')
  }
}

/** 57: requests reach the URL that is set, with the secret and the account that are set. */
const urlsAreCurrent: Check = (index, report) => {
  const { posts, observations, timeline, startOf, byUuid } = index
  for (const { post, receiver } of posts) {
    const hooks = timeline.during('webhook', receiver?.id ?? '', startOf(post.by, post.at), post.at)
    if (!hooks.some((hook) => hook?.url === post.url)) report(post.url, 'is not set')
  }
  const { bankPosts, queries } = observations
  for (const { bank, url, secret, at, by } of [...bankPosts, ...queries]) {
    const urls = timeline.recent('connectorUrl', bank, startOf(by, at), at)
    if (!urls.includes(url)) report(bank, `received a request at ${url}, not ${urls}`)
    const secrets = timeline.recent('connectorSecret', bank, startOf(by, at), at)
    if (!secrets.includes(secret)) report(bank, 'received a request signed by another secret')
  }
  for (const { path, body, bank, at, by } of bankPosts) {
    const debit = byUuid.get(String(body.uuid))?.item
    if (path !== '/submissions' || !debit) continue
    const numbers = timeline.during('customer', `${debit.phone} ${bank}`, startOf(by, at), at)
    if (numbers.some((number) => (number ?? null) === (body.account_number ?? null))) continue
    report(debit.reference, `was submitted with ${body.account_number}, not ${numbers}`)
  }
}

/** 57: a debit has the name that its provider had at the charge. */
const payeesAreCurrent: Check = ({ debits, timeline, startOf, observations }, report) => {
  for (const [reference, { item, changes }] of debits) {
    const { at = 0, by } = changes[0] ?? {}
    const names = timeline.recent('name', item.provider, startOf(by?.invocation, at), at)
    // The release before stored none.
    if (!item.providerName && observations.setup.otherRelease === 'earlier') continue
    if (by && !names.includes(item.providerName)) report(reference, `is of ${item.providerName}`)
  }
}

export const checks: Checks = {
  57: [settingsStay, credentialsDecide, banksAreOpen, urlsAreCurrent, payeesAreCurrent],
}
