import { createHmac } from 'node:crypto'
import type { Check } from './invariant.ts'
import type { SeenPost } from './post-book.ts'
import { MINUTE_MS } from './time-and-money.ts'

/** 18, 19: who gets a post, and what proves that it is ours. */

const SECRET_PREFIX = 'whsec_'

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')

/** A string of JSON, or a run of blanks outside of any. */
const STRING_OR_BLANKS = /"(?:[^"\\]|\\.)*"|\s+/g

const isMinified = (raw: string): boolean => {
  for (const [found] of raw.matchAll(STRING_OR_BLANKS)) if (found[0] !== '"') return false
  return true
}

/** Between its signature and its arrival lies one attempt at most. */
const FRESH_MS = MINUTE_MS

/** 18: signed over the exact bytes, in both ways, with the secret of the receiver's partner. */
export const isSigned: Check = ({ posts }, complain) => {
  const minified = new Map<string, boolean>()
  for (const seen of posts) {
    const { post, receiver } = seen
    const about = post.headers['x-svc-delivery-id'] ?? post.url
    if (receiver?.webhook) {
      const wrong = wrongIn(seen, receiver.webhook.secret)
      if (wrong) complain(about, `has a ${wrong} that is not of its receiver`)
    }
    const known = minified.get(post.raw) ?? isMinified(post.raw)
    minified.set(post.raw, known)
    if (!known) complain(about, 'is not minified')
  }
}

const wrongIn = ({ post: { headers, raw, at } }: SeenPost, secret: string): string | undefined => {
  const signature = createHmac('sha256', secret).update(raw, 'utf8').digest('hex')
  if (headers['x-svc-signature'] !== signature) return 'signature'
  const { 'webhook-id': id, 'webhook-timestamp': time, 'x-svc-timestamp': stamp } = headers
  const standard = createHmac('sha256', keyOf(secret))
    .update(`${id}.${time}.${raw}`, 'utf8')
    .digest('base64')
  if (headers['webhook-signature'] !== `v1,${standard}`) return 'standard signature'
  const isNow = Math.abs(Number(stamp) * 1000 - at) <= FRESH_MS
  return /^[0-9]{10}$/.test(stamp ?? '') && stamp === time && isNow ? undefined : 'timestamp'
}

/** 19: what is of one partner goes to no other. */
export const reachesItsOwner: Check = ({ posts, debits, batches }, complain) => {
  for (const { post, receiver, about, reference } of posts) {
    if (!receiver) complain(post.url, 'is the receiver of nobody')
    if (!about) continue
    const owner = debits.get(reference)?.item.partner ?? batches.get(reference)?.item.partner
    if (owner !== receiver?.id) complain(reference, `is of ${owner}, and went to ${receiver?.id}`)
  }
}
