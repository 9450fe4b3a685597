import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { ReceivedPost } from './item-histories.ts'
import type { Check } from './observation-index.ts'
import type { Secret } from './setting-timeline.ts'
import { inGhs, MINUTE_MS } from './time-and-money.ts'

/** 18, 19: the receivers and signatures of posts. */

const SECRET_PREFIX = 'whsec_'

type Keys = { whole: KeyObject; decoded: KeyObject }

/** Key objects are several times faster than bytes. */
const known = new Map<string, Keys>()

const keysOf = (secret: string): Keys => {
  const keys = known.get(secret) ?? {
    whole: createSecretKey(Buffer.from(secret)),
    decoded: createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')),
  }
  known.set(secret, keys)
  return keys
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BLANK = 0x20

const isMinified = (raw: string): boolean => {
  let isInString = false
  for (let place = 0; place < raw.length; place += 1) {
    const character = raw.charCodeAt(place)
    if (character === QUOTE) isInString = !isInString
    else if (isInString && character === BACKSLASH) place += 1
    else if (!isInString && character <= BLANK) return false
  }
  return true
}

const FRESH_MS = MINUTE_MS

/** 18: both signatures cover the exact bytes, with the secret of the receiver's provider. */
export const postsAreSigned: Check = ({ posts, timeline, startOf, observations }, report) => {
  const { skew } = observations.setup
  const minified = new Map<string, boolean>()
  for (const received of posts) {
    const { post, receiver } = received
    const about = received.reference || post.url
    const id = post.headers['x-svc-delivery-id'] ?? 'a post without an id'
    const from = startOf(post.by, post.at)
    const secrets = timeline.during('webhookSecret', receiver?.id ?? '', from, post.at)
    const wrong = secrets.map((secret) => secret && wrongIn(received, secret, skew))
    if (wrong.every(Boolean)) report(about, `${id} has a wrong ${wrong}`)
    const isKnown = minified.get(post.raw) ?? isMinified(post.raw)
    minified.set(post.raw, isKnown)
    if (!isKnown) report(about, `${id} is not minified`)
  }
}

const wrongIn = (
  { post: { headers, raw, at } }: ReceivedPost,
  { current, previous, until }: Secret,
  skew: number,
): string | undefined => {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'x-svc-timestamp': stamp } = headers
  const standard = headers['webhook-signature']?.split(' ') ?? []
  const signed = [headers['x-svc-signature'], headers['x-svc-signature-previous']]
  for (const [n, secret] of [current, previous].entries()) {
    // A secret that no reply has shown cannot be checked.
    if (secret === undefined) continue
    const isAbsent = signed[n] === undefined
    const mayBeOver = n === 1 && at + skew + FRESH_MS > until
    const mustBeOver = n === 1 && at - skew - FRESH_MS >= until
    if (isAbsent ? !mayBeOver : mustBeOver) return `overlap of secrets at ${n}`
    if (isAbsent) continue
    const keys = keysOf(secret)
    const signature = createHmac('sha256', keys.whole).update(raw, 'utf8').digest('hex')
    if (signed[n] !== signature) return 'signature'
    const own = createHmac('sha256', keys.decoded)
      // In two parts, to avoid copying the long body.
      .update(`${id}.${time}.`, 'utf8')
      .update(raw, 'utf8')
      .digest('base64')
    if (standard[n] !== `v1,${own}`) return 'standard signature'
  }
  const isNow = Math.abs(Number(stamp) * 1000 - at) <= FRESH_MS + skew
  return /^[0-9]{10}$/.test(stamp ?? '') && stamp === time && isNow ? undefined : 'timestamp'
}

/** 19: events reach only their provider's receiver. */
export const postsReachOwner: Check = ({ posts, debits, batches }, report) => {
  for (const { post, receiver, about, reference } of posts) {
    if (!receiver) report(post.url, 'is not a receiver')
    const owner = (debits.get(reference) ?? batches.get(reference))?.item.provider
    if (about && owner !== receiver?.id)
      report(reference, `belongs to ${owner}, but reached ${receiver?.id}`)
  }
}

/** 30: amounts are published with two decimals. */

/** A published amount: text, a number, or null if unknown. */
const PUBLISHED = /(?<!\\)"(?:amount|fee|gross|net|adjustments|paid|total_amount)":([^,}\]]*)/g
const DECIMAL = /^(?:null|"-?(?:0|[1-9][0-9]*)\.[0-9]{2}"|-?(?:0|[1-9][0-9]*)\.[0-9]{2})$/

const badIn = (text: string): string | undefined => {
  for (const [, amount = ''] of text.matchAll(PUBLISHED)) if (!DECIMAL.test(amount)) return amount
  return undefined
}

/** Checks the exact bytes of posts before the metadata, which belongs to the provider. */
export const publishedAmountsAreExact: Check = ({ posts, debits, observations }, report) => {
  const judged = new Set<string>()
  for (const { post, about, reference } of posts) {
    if (judged.has(post.raw)) continue
    judged.add(post.raw)
    const own = post.raw.split('"previous_status":')[0] ?? ''
    const bad = badIn(own)
    if (bad !== undefined) report(reference, `has the amount ${bad}`)
    const debit = about === 'transaction' && debits.get(reference)
    if (debit && !own.includes(`"amount":${inGhs(debit.item.amount)},`))
      report(reference, `was published without the amount ${inGhs(debit.item.amount)}`)
  }
  for (const { name, reply } of observations.calls) {
    if (!reply || reply.status >= 300) continue
    const bad = badIn(reply.raw ?? '')
    if (bad !== undefined) report(name, `has the amount ${bad}`)
  }
}
