import { type Books, type DeliveryBook, eventKey } from './debit-histories.ts'
import { isTakenUp } from './deliveries.ts'
import type { Check, Complain } from './invariant.ts'
import type { SeenPost } from './post-book.ts'
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

/** The post that a record speaks of, if its answer was heard. */
const heardOf = (posts: readonly SeenPost[], { id, responseCode }: RawAttempt) =>
  posts.find((seen) => seen.id === id && seen.post.heard && seen.post.code === responseCode)

/** Each write of a delivery that an attempt led to. */
function* attemptsIn({ changes }: DeliveryBook) {
  for (const { before, after } of changes) {
    if (!after?.last || after.attemptCount === (before?.attemptCount ?? 0)) continue
    yield { before, after, last: after.last }
  }
}

type Recorded = {
  posts: readonly SeenPost[]
  witnessed: Books['witnessed']
}

/**
 * When the worker of an attempt started, or else when it posted: what was written after that, it may
 * not have seen.
 */
const startOf = (
  { by, after }: DeliveryBook['changes'][number],
  { posts, witnessed }: Recorded,
): number => {
  const record = witnessed.invocations.get(by?.invocation ?? Number.NaN)
  const last = after?.last
  const post = posts.find(({ id }) => id === last?.id)?.post
  return record?.startedAt ?? post?.at ?? Date.parse(last?.at ?? '')
}

/** 16 */
export const isSpaced: Check = (books, complain) => {
  for (const [key, record] of books.deliveries) {
    const posts = books.postsOf.get(key) ?? []
    for (const { before, after, last } of attemptsIn(record)) {
      if (after.status !== 'failed') continue
      const seconds = (Date.parse(after.nextAttemptAt ?? '') - endOf(last)) / SECOND_MS
      const { least, most } = delaysAfter(last.number, heardOf(posts, last)?.post.retryAfter ?? 0)
      // The later time holds if two attempts end at once.
      const isKept = before?.status === 'failed' && before.nextAttemptAt === after.nextAttemptAt
      if (seconds < least || (seconds > most && !isKept)) {
        complain(key, `waits ${seconds} s after attempt ${last.number}`)
      }
    }
    comesNotBefore(record, { posts, witnessed: books.witnessed }, complain)
  }
}

/** An attempt is not made before it is due, or was asked for. */
const comesNotBefore = (
  { item, changes }: DeliveryBook,
  recorded: Recorded,
  complain: Complain,
): void => {
  const key = eventKey(item.reference, item.n)
  // The one who says when it is due and the one who makes it each have a clock.
  const { skew } = recorded.witnessed.scene
  // What was due may be on its way when another is asked for: then this attempt is that.
  let due: number | undefined
  let saidAt = 0
  for (const change of changes) {
    const { before, after } = change
    if (!after) continue
    if (after.last && after.attemptCount > (before?.attemptCount ?? 0)) {
      const { at, id, number } = after.last
      const post = recorded.posts.find((seen) => seen.id === id)?.post
      const madeAt = Math.min(Date.parse(at), post?.at ?? Infinity)
      // One that was under way is no answer to what was said after it.
      const isAfter = startOf(change, recorded) >= saidAt
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

const isEnd = (status: string | undefined): boolean =>
  status === 'delivered' || status === 'abandoned'

/** What a record must be after an attempt. */
const expected = (before: RawDelivery | undefined, after: RawDelivery): string => {
  const { last, attemptsMax, deliveredAt } = after
  if (!last) return 'pending'
  if (isSuccess(last)) return 'delivered'
  if (before && isEnd(before.status)) return before.status
  if (isRetriable(last) && last.number < attemptsMax) return 'failed'
  return deliveredAt ? 'delivered' : 'abandoned'
}

/** 17: an answer decides whether there is another attempt, and it is the receiver's own. */
export const isRetriedRightly: Check = (books, complain) => {
  for (const [key, record] of books.deliveries) {
    const posts = books.postsOf.get(key) ?? []
    const recorded = { posts, witnessed: books.witnessed }
    // When it came to its end, and when it was taken up again.
    let endedAt = Infinity
    let takenUpAt = 0
    for (const change of record.changes) {
      const { before, after, at } = change
      if (!after) continue
      if (isTakenUp(change)) [endedAt, takenUpAt] = [Infinity, at]
      if (after.last && after.attemptCount > (before?.attemptCount ?? 0)) {
        const startedAt = startOf(change, recorded)
        if (startedAt > endedAt) complain(key, `had attempt ${after.last.number} after its end`)
        const isRival = startedAt <= takenUpAt
        judgeAttempt({ before, after }, { key, posts, isRival, complain })
      } else if (after.status !== before?.status) judgeOther(change, { key, books, complain })
      if (isEnd(after.status)) endedAt = Math.min(endedAt, at)
    }
  }
}

type Around = {
  key: string
  posts: readonly SeenPost[]
  /** It was under way when the record was taken up again. */
  isRival: boolean
  complain: Complain
}

const judgeAttempt = (
  { before, after }: { before: RawDelivery | undefined; after: RawDelivery },
  { key, posts, isRival, complain }: Around,
): void => {
  const { last, status, attemptCount, nextAttemptAt } = after
  if (!last) return
  const wanted = expected(before, after)
  const said = last.responseCode ?? last.cause
  // A redelivery that was requested during a failed attempt is still due.
  const isStillDue =
    isRival && status === 'pending' && before?.status === 'pending' && !isSuccess(last)
  if (status !== wanted && !isStillDue) {
    complain(key, `is ${status} after ${said}, and should be ${wanted}`)
  }
  if ((nextAttemptAt !== null) !== (status === 'failed' || isStillDue)) {
    complain(key, `has its next attempt at ${nextAttemptAt} after ${said}`)
  }
  if (last.number !== attemptCount) complain(key, `counts attempt ${last.number} otherwise`)
  if (last.responseCode !== null && !heardOf(posts, last)) {
    complain(key, `says that attempt ${last.number} was answered ${last.responseCode}`)
  }
}

type Other = { key: string; books: Books; complain: Complain }

/** Without an attempt it is taken up, or not to be tried any more. */
const judgeOther = (
  change: DeliveryBook['changes'][number],
  { key, books, complain }: Other,
): void => {
  const { before, after, by, sequence } = change
  if (!after || isTakenUp(change)) return
  // An event without an attempt gets a record for its first attempt.
  if (!before && after.status === 'pending' && by?.name === 'sweep') return
  if (after.status === 'abandoned' && books.disabled.has(after.provider)) return
  complain(key, `change ${sequence} makes it ${after.status} without an attempt`)
}
