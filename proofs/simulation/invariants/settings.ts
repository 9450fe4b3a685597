import { isDeepStrictEqual } from 'node:util'
import type { Item } from '../../../sandbox/aws/table/change.ts'
import { codeIn, membersOf } from './calls.ts'
import type { Check } from './observation-index.ts'
import { ownerIn } from './raw-items.ts'
import type { Secret, Values } from './setting-timeline.ts'

/** 57: settings stay until operators change them, and a change takes effect in time. */

type Stored = { subject: string; values: Partial<Values> }

// biome-ignore lint/suspicious/noExplicitAny: stored settings are read member by member
type Any = any

/** The values in stored settings, by entity. Secrets are sealed: signatures show them. */
const decoders: Record<string, (item: Any) => Stored> = {
  provider: ({ id, status, dailyLimit, feeSchedule, requestLimits }) => ({
    subject: id,
    values: {
      isActive: status === 'active',
      dailyLimit,
      feeSchedule,
      chargesPerMinute: requestLimits?.charge ?? 1_000,
    },
  }),
  payee: ({ pk, settlementAccount: account }) => ({
    subject: ownerIn(pk),
    values: {
      account: account && {
        bank: account.bank,
        number: account.accountNumber,
        name: account.accountName,
      },
    },
  }),
  webhook: ({ pk, url, events, attemptsMax }) => ({
    subject: ownerIn(pk),
    values: { webhook: { url, events, ...(attemptsMax ? { attemptsMax } : {}) } },
  }),
  bank: ({ identifier, status }) => ({
    subject: identifier,
    values: { isActive: status === 'live' },
  }),
  connector: ({ pk, url }) => ({ subject: ownerIn(pk), values: { connectorUrl: url } }),
  account: ({ pk, sk, accountNumber }) => ({
    subject: `${ownerIn(pk)} ${ownerIn(sk)}`,
    values: { customer: accountNumber },
  }),
}

/** 57: a write of settings stores the values that operators set, and only operators write them. */
export const settingsStay: Check = ({ observations, timeline }, report) => {
  for (const { before, after, at, by } of observations.changes) {
    const item = (after ?? before) as Item
    const decoded = by && decoders[String(item.entity)]?.(item)
    if (!decoded) continue
    const { subject, values } = decoded
    if (!by.name.startsWith('manage-'))
      report(subject, `its ${item.entity} is written by ${by.name}`)
    for (const [name, value] of Object.entries(values) as [keyof Values, unknown][]) {
      const possible = timeline.during(name, subject, at, at)
      const stored = after ? value : undefined
      if (possible.some((one) => isDeepStrictEqual(plain(one), plain(stored)))) continue
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

/** 57: a revoked or unsigned request is refused, a valid one is not, and a disabled provider cannot call. */
export const credentialsDecide: Check = ({ observations, timeline }, report) => {
  const { skew } = observations.setup
  for (const { name, caller, token, secret, at, reply } of observations.calls) {
    if (!caller || token === undefined || !reply || reply.status === 429 || reply.status >= 500)
      continue
    const about = `${name} of ${caller.id} at ${new Date(at).toISOString()}`
    const valid = timeline.recent('isActive', token, at, reply.at)
    const active =
      caller.kind === 'bank' ? [true] : timeline.recent('isActive', caller.id, at, reply.at)
    const secrets = timeline.recent('requestSecret', caller.id, at, reply.at)
    const isRefused = reply.status === 401
    const isSuspended = codeIn(membersOf(reply.body)) === DISABLED
    const isUnsigned = secrets.every(
      (one) => !isAccepted(one, secret, at - observations.setup.staleMs - skew),
    )
    if (!isRefused && !valid.includes(true)) report(about, 'was served with a revoked credential')
    if (!isRefused && !isSuspended && isUnsigned) report(about, 'was served without its signature')
    if (!isRefused && !isSuspended && !active.includes(true))
      report(about, 'was served while disabled')
    const mayBeRefused =
      valid.includes(false) || secrets.some((one) => isRejected(one, secret, reply.at + skew))
    if (isRefused && !mayBeRefused) report(about, 'was refused with a valid credential')
    if (isSuspended && !active.includes(false)) report(about, 'was refused as disabled')
  }
}

const NOT_LIVE = 1402

/** 57: an inactive bank gets no new debit, an active one does. */
export const banksAreOpen: Check = ({ debits, timeline, startOf, observations }, report) => {
  for (const [reference, { item, changes }] of debits) {
    const [{ at, by } = { at: 0, by: undefined }] = changes
    const open = timeline.recent('isActive', item.bank.identifier, startOf(by?.invocation, at), at)
    if (by && !open.includes(true)) report(reference, 'was charged while its bank was inactive')
  }
  for (const { name, sent, at, reply } of observations.calls) {
    if (name !== 'charge' || codeIn(membersOf(reply?.body)) !== NOT_LIVE) continue
    const body = membersOf(sent)
    const bank = String(body.bank_identifier)
    if (!observations.setup.banks.includes(bank)) continue
    const open = timeline.recent('isActive', bank, at, reply?.at ?? at)
    if (!open.includes(false)) report(`a charge at ${bank}`, 'was refused, but the bank is active')
  }
}

/** 57: requests reach the URL that is set, and banks are queried with the current secret. */
export const urlsAreCurrent: Check = (
  { posts, observations, timeline, startOf, byUuid },
  report,
) => {
  for (const { post, receiver } of posts) {
    const hooks = timeline.during('webhook', receiver?.id ?? '', startOf(post.by, post.at), post.at)
    if (hooks.every((hook) => hook?.url !== post.url))
      report(post.url, `is not set by ${receiver?.id}`)
  }
  for (const { bank, url, secret, at, by } of [
    ...observations.bankPosts,
    ...observations.queries,
  ]) {
    const from = startOf(by, at)
    const urls = timeline.recent('connectorUrl', bank, from, at)
    if (!urls.includes(url)) report(bank, `received a request at ${url}, not ${urls}`)
    const secrets = timeline.recent('connectorSecret', bank, from, at)
    if (!secrets.includes(secret)) report(bank, 'received a request signed by another secret')
  }
  for (const { path, body, bank, at, by } of observations.bankPosts) {
    const debit = byUuid.get(String(body.uuid))
    if (path !== '/submissions' || !debit) continue
    const numbers = timeline.during('customer', `${debit.item.phone} ${bank}`, startOf(by, at), at)
    if (numbers.includes((body.account_number ?? undefined) as string | undefined)) continue
    report(debit.item.reference, `was submitted with ${body.account_number}, not ${numbers}`)
  }
}

/** 57: a payout of a disabled provider does not begin. */
export const disabledProvidersWait: Check = ({ batches, timeline, startOf }, report) => {
  for (const { item, changes } of batches.values()) {
    for (const { before, after, at, by } of changes) {
      if (before?.status !== 'pending' || after?.status !== 'processing') continue
      const active = timeline.during('isActive', item.provider, startOf(by?.invocation, at), at)
      if (!active.includes(true)) report(item.id, 'was paid while its provider was disabled')
    }
  }
}
