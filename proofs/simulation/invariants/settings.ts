import { isDeepStrictEqual } from 'node:util'
import type { Item } from '../../../sandbox/aws/table/change.ts'
import { codeIn, fieldsOf, membersOf } from './calls.ts'
import { ownerIn } from './raw-items.ts'
import { type Check, type Checks, eachDebit } from './rules.ts'
import type { Secret, Values } from './setting-timeline.ts'
import { MINUTE_MS, pesewasOf, SECOND_MS } from './time-and-money.ts'

/** Settings stay until operators change them, and a change takes effect in time. */

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
  bank: ({ identifier, status, ...item }) => {
    const { whenDown, accountLookup = 'off', payoutDays = 'all', maximum, behaviour } = item
    const [isActive, as] = [status === 'live', behaviour?.as]
    const settings = { whenDown, accountLookup, payoutDays, maximum }
    return [identifier, { isActive, ...settings, behaviour: as }]
  },
  connector: ({ pk, url: connectorUrl }) => [ownerIn(pk), { connectorUrl }],
  account: ({ pk, sk, accountNumber: customer }) => [`${ownerIn(pk)} ${ownerIn(sk)}`, { customer }],
}

const plain = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value))

const hasEvent = ({ events }: Item, event: string): boolean =>
  (events as string[] | undefined)?.includes(event) ?? event !== 'settlement.completed'

/** Reports whether a webhook is owed another part of the events that it had and has. */
const isOwedOther = (before: Item, after: Item): boolean => {
  const [earlier, later] = [before, after].map((item) => membersOf(item.subscribedAt))
  const kept = Object.keys({ ...earlier, ...later }).filter((event) =>
    [before, after].every((item) => hasEvent(item, event)),
  )
  return before.since !== after.since || kept.some((event) => earlier?.[event] !== later?.[event])
}

/** Only operators write settings, with the values that they set. A charge adds an account (66). */
const settingsStay: Check = ({ observations, timeline }, report) => {
  for (const { before, after, at, by } of observations.changes) {
    const item = (after ?? before) as Item
    const [subject, values] = (by && decoders[String(item.entity)]?.(item)) ?? ['', {}]
    const isFound = by?.name === 'charge' && item.entity === 'account'
    if (subject && !isFound && !by?.name.startsWith('manage-'))
      report(subject, `is written by ${by?.name}`)
    // The sweep sends what the webhook has lost since.
    const isCut = item.entity === 'webhook' && before && after && isOwedOther(before, after)
    if (isCut && by) report(subject, 'is owed only the events of another time')
    for (const [name, value] of Object.entries(values) as [keyof Values, unknown][]) {
      const possible = timeline.during(name, subject, at, at)
      const stored = plain(after && value)
      if (possible.some((one) => isDeepStrictEqual(plain(one), stored))) continue
      report(subject, `has the ${name} ${JSON.stringify(stored)}, not ${JSON.stringify(possible)}`)
    }
  }
}

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

/** The age at which a timestamp expires. */
const STAMP_MS = 5 * MINUTE_MS

/** A revoked or unsigned request is refused, and that of a disabled provider; others are not. */
const credentialsDecide: Check = ({ observations, setup, timeline }, report) => {
  const { skew, staleMs } = setup
  const keyless = observations.strikes.filter(({ name }) => name === 'sealing key missing')
  for (const { name, caller, token, secret, drift = 0, at, reply } of observations.calls) {
    if (!caller || !token || !reply || reply.status === 429 || reply.status >= 500) continue
    const about = `${name} of ${caller.id} at ${new Date(at).toISOString()}`
    const valid = timeline.recent('isActive', token, at, reply.at)
    const active = timeline.recent('isActive', caller.id, at, reply.at)
    const secrets = timeline.recent('requestSecret', caller.id, at, reply.at)
    const isRefused = reply.status === 401
    const isSuspended = codeIn(membersOf(reply.body)) === DISABLED
    // Without a key, no signature is right; a function caches that no key opened the secret.
    const isKeyless = keyless.some(
      (one) => one.by === name && one.at >= at - staleMs && one.at <= reply.at,
    )
    const unsureMs = reply.at - at + skew + SECOND_MS
    const mayBeRefused =
      valid.includes(false) ||
      Math.abs(drift) > STAMP_MS - unsureMs ||
      secrets.some((one) => isRejected(one, secret, reply.at + skew) || (one && isKeyless))
    if (!isRefused && !isSuspended) {
      if (!secrets.some((one) => isAccepted(one, secret, at - staleMs - skew)))
        report(about, 'was served without its signature')
      if (Math.abs(drift) > STAMP_MS + unsureMs && !secrets.includes(undefined))
        report(about, 'was served with a timestamp of another time')
      // An inactive bank may call.
      if (caller.kind === 'provider' && !active.includes(true))
        report(about, 'was served while disabled')
    }
    if (!isRefused && !valid.includes(true)) report(about, 'was served with a revoked credential')
    if (isRefused && !mayBeRefused) report(about, 'was refused with a valid credential')
    if (isSuspended && !active.includes(false)) report(about, 'was refused as disabled')
  }
}

/**
 * The bank of a new debit is active and permits its amount. A debit has the name that its provider
 * had at the charge.
 */
const chargesFollowSettings = eachDebit(({ item, changes: [opened] }, { timeline, setup }) => {
  if (!opened?.by) return undefined
  const { since, at } = opened
  const isOpen = timeline.recent('isActive', item.bank.identifier, since, at).includes(true)
  const maxima = timeline.recent('maximum', item.bank.identifier, since, at)
  // The release before stored no name.
  const isNamed = item.providerName || setup.otherRelease !== 'earlier'
  const names = timeline.recent('name', item.provider, since, at)
  return [
    !isOpen && 'was charged while its bank was inactive',
    maxima.every((maximum) => item.amount > (maximum ?? Infinity)) &&
      'is above the maximum of its bank',
    isNamed && !names.includes(item.providerName) && `is of ${item.providerName}`,
  ]
})

const NOT_LIVE = 1402
const ABOVE_MAXIMUM = 3005

const refusalsFollowSettings: Check = ({ observations, setup, timeline }, report) => {
  for (const call of observations.calls) {
    const { name, at, reply } = call
    const { bank_identifier: bank = '', amount } = fieldsOf(call) as Record<string, string>
    if (name !== 'charge' || !reply || !setup.banks.includes(bank)) continue
    const code = codeIn(membersOf(reply.body))
    const open = timeline.recent('isActive', bank, at, reply.at)
    const maxima = timeline.recent('maximum', bank, at, reply.at)
    const isAbove = maxima.some((maximum) => (pesewasOf(amount) ?? 0) > (maximum ?? Infinity))
    const isOfBank = JSON.stringify(reply.body).includes("the bank's maximum")
    if (code === NOT_LIVE && !open.includes(false))
      report(`a charge at ${bank}`, 'was refused, but the bank is active')
    if (code === ABOVE_MAXIMUM && isOfBank && !isAbove)
      report(`a charge of ${amount} at ${bank}`, 'was refused, but is within its maximum')
  }
}

/** Requests reach the URL that is set, with the secret and the account that are set. */
const urlsAreCurrent: Check = (index, report) => {
  const { posts, bankPosts, queries, timeline, startOf, byUuid } = index
  for (const { post, receiver } of posts) {
    const hooks = timeline.during('webhook', receiver?.id ?? '', startOf(post.by, post.at), post.at)
    if (!hooks.some((hook) => hook?.url === post.url)) report(post.url, 'is not set')
  }
  for (const { bank, url, secret, at, since, ...sent } of [...bankPosts, ...queries]) {
    // Payouts and refunds use no cached settings.
    const isCurrent = 'path' in sent && sent.path !== '/submissions'
    const valuesOf = isCurrent ? timeline.during : timeline.recent
    const urls = valuesOf('connectorUrl', bank, since, at)
    if (!urls.includes(url)) report(bank, `received a request at ${url}, not ${urls}`)
    const secrets = valuesOf('connectorSecret', bank, since, at)
    if (!secrets.includes(secret)) report(bank, 'received a request signed by another secret')
  }
  for (const { path, body, bank, at, since } of bankPosts) {
    const debit = path === '/submissions' && byUuid.get(String(body.uuid))?.item
    if (!debit) continue
    const numbers = timeline.during('customer', `${debit.phone} ${bank}`, since, at)
    if (!numbers.some((number) => (number ?? null) === (body.account_number ?? null)))
      report(debit.reference, `was submitted with ${body.account_number}, not ${numbers}`)
  }
}

export const checks: Checks = {
  57: [
    settingsStay,
    credentialsDecide,
    chargesFollowSettings,
    refusalsFollowSettings,
    urlsAreCurrent,
  ],
}
