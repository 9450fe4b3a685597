import { type Books, type DeliveryBook, eventKey } from './books.ts'
import { isTakenUp } from './deliveries.ts'
import type { Check, Complain } from './invariant.ts'
import { isReceived, type SeenPost } from './post-book.ts'
import type { RawAttempt, RawDelivery } from './raw-items.ts'
import { SECOND_MS } from './time-and-money.ts'

/** 16, 17: when the next attempt is made, and whether. */

const CAP_SECONDS = 300

/** Whole seconds before the attempt after attempt `k`. */
const delaysAfter = (k: number, retryAfter: number): { least: number; most: number } => {
  const base = 2 ** k
  return {
    least: Math.min(Math.max(base, retryAfter), CAP_SECONDS),
    most: Math.min(Math.max(Math.floor(1.1 * base), retryAfter), CAP_SECONDS),
  }
}

const endOf = ({ at, milliseconds }: RawAttempt): number => Date.parse(at) + milliseconds

/** The posts that a record may speak of: rivals for one attempt each make their own. */
const heardOf = (posts: readonly SeenPost[], { number, responseCode }: RawAttempt) =>
  posts.filter(
    ({ attempt, post }) => attempt === number && post.heard && post.code === responseCode,
  )

/** Each write of a delivery that an attempt led to. */
function* attemptsIn({ changes }: DeliveryBook) {
  for (const { before, after, sequence, at } of changes) {
    if (!after?.last || after.attemptCount === (before?.attemptCount ?? 0)) continue
    yield { before, after, last: after.last, sequence, at }
  }
}

/** 16 */
export const isSpaced: Check = (books, complain) => {
  for (const [key, record] of books.deliveries) {
    const posts = books.postsOf.get(key) ?? []
    for (const { after, last } of attemptsIn(record)) {
      if (after.status !== 'failed') continue
      const asked = heardOf(posts, last).map(({ post }) => post.retryAfter ?? 0)
      const seconds = (Date.parse(after.nextAttemptAt ?? '') - endOf(last)) / SECOND_MS
      const isWithin = (asked.length > 0 ? asked : [0]).some((retryAfter) => {
        const { least, most } = delaysAfter(last.number, retryAfter)
        return seconds >= least && seconds <= most
      })
      if (!isWithin) complain(key, `waits ${seconds} s after attempt ${last.number}`)
    }
    comesNotBefore(record, posts, { skew: books.witnessed.scene.skew, complain })
  }
}

/** An attempt is not made before it is due, or was asked for. */
const comesNotBefore = (
  { item, changes }: DeliveryBook,
  posts: readonly SeenPost[],
  // The one who says when it is due and the one who makes it each have a clock.
  { skew, complain }: { skew: number; complain: Complain },
): void => {
  const key = eventKey(item.reference, item.n)
  // What was due may be on its way when another is asked for: then this attempt is that.
  let due: number | undefined
  let saidAt = 0
  for (const change of changes) {
    const { before, after } = change
    if (!after) continue
    if (after.last && after.attemptCount > (before?.attemptCount ?? 0)) {
      const { at, number } = after.last
      // One that was under way, or whose worker was lost, is no answer to what was said after it.
      const first = posts.find(({ attempt, post }) => attempt === number && post.at >= saidAt)
      const madeAt = Math.min(Date.parse(at), first?.post.at ?? Infinity)
      const isAfter = madeAt >= saidAt - skew
      if (due !== undefined && isAfter && madeAt < due - 2 * skew) {
        complain(key, `had attempt ${number} ${due - madeAt} ms before it was due`)
      }
      due = undefined
    }
    if (after.nextAttemptAt) {
      due = Math.min(due ?? Infinity, Date.parse(after.nextAttemptAt))
      saidAt = change.at
    }
  }
}

const RETRIABLE_CODES = new Set([408, 429, 500, 502, 503, 504])
const NETWORK = new Set(['connect_timeout', 'read_timeout', 'refused', 'broken', 'dns', 'tls'])

const isSuccess = ({ responseCode }: RawAttempt): boolean =>
  responseCode !== null && responseCode >= 200 && responseCode < 300

const isRetriable = ({ responseCode, cause }: RawAttempt): boolean =>
  responseCode === null ? NETWORK.has(cause ?? '') : RETRIABLE_CODES.has(responseCode)

/** What a record must be after an attempt. */
const expected = ({ last, attemptsMax, deliveredAt }: RawDelivery): string => {
  if (!last) return 'pending'
  if (isSuccess(last)) return 'delivered'
  if (isRetriable(last) && last.number < attemptsMax) return 'failed'
  return deliveredAt ? 'delivered' : 'abandoned'
}

/** The longest that the function of an attempt runs: a rival may have read the record before. */
const FUNCTION_MS = 75 * SECOND_MS

/** 17: an answer decides whether there is another attempt, and it is the receiver's own. */
export const isRetriedRightly: Check = (books, complain) => {
  for (const [key, record] of books.deliveries) {
    const posts = books.postsOf.get(key) ?? []
    let isOver = false
    for (const change of record.changes) {
      const { before, after } = change
      if (!after) continue
      if (isTakenUp(change)) isOver = false
      if (after.last && after.attemptCount > (before?.attemptCount ?? 0)) {
        if (isOver) complain(key, `had attempt ${after.last.number} after its end`)
        judgeAttempt(after, { key, posts, complain })
      } else if (after.status !== before?.status) judgeOther(change, { key, books, complain })
      if (after.status === 'delivered' || after.status === 'abandoned') isOver = true
    }
    for (const { last, at } of attemptsIn(record)) {
      const again = posts.find(
        ({ attempt, post }) => attempt === last.number && post.at > at + FUNCTION_MS,
      )
      if (again) complain(key, `was posted as attempt ${last.number} after that was on record`)
    }
  }
}

type Around = { key: string; posts: readonly SeenPost[]; complain: Complain }

const judgeAttempt = (after: RawDelivery, { key, posts, complain }: Around): void => {
  const { last, status, attemptCount, nextAttemptAt } = after
  if (!last) return
  const wanted = expected(after)
  const said = last.responseCode ?? last.cause
  if (status !== wanted) complain(key, `is ${status} after ${said}, and should be ${wanted}`)
  if ((nextAttemptAt !== null) !== (wanted === 'failed')) {
    complain(key, `has its next attempt at ${nextAttemptAt} after ${said}`)
  }
  if (last.number !== attemptCount) complain(key, `counts attempt ${last.number} otherwise`)
  if (last.responseCode !== null && heardOf(posts, last).length === 0) {
    complain(key, `says that attempt ${last.number} was answered ${last.responseCode}`)
  }
}

type Other = { key: string; books: Books; complain: Complain }

/** Without an attempt it is taken up, received by another worker, or not to be tried any more. */
const judgeOther = (
  change: DeliveryBook['changes'][number],
  { key, books, complain }: Other,
): void => {
  const { after, sequence } = change
  if (!after || isTakenUp(change)) return
  const received = (books.postsOf.get(key) ?? []).some(
    (seen) => isReceived(seen) && seen.post.heard,
  )
  if (after.status === 'delivered' && received) return
  if (after.status === 'abandoned' && books.disabled.has(after.partner)) return
  complain(key, `change ${sequence} makes it ${after.status} without an attempt`)
}
