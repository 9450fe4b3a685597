import { ERASURE_DAYS } from '../domain/operator/restore.ts'
import { invalid, Refusal } from '../domain/refusal.ts'
import { DAY_SECONDS, secondsAfter } from '../domain/time.ts'
import { type Runtime, timeLimit } from '../runtime.ts'
import { putChange } from '../store/operator/changes.ts'
import { findRestore } from '../store/operator/restores.ts'
import type { Span } from '../store/table.ts'
import type { RepeatedErasures } from '../views/operator/customer.ts'
import { eraseCustomer } from './customer-erasure.ts'
import { erasuresWithin } from './erasure-records.ts'
import type { Author } from './handler.ts'

/** The part of the function's minute in which another erasure may begin: one takes up to half a minute. */
const BEGIN_MS = 20_000

/** The function's timeout: an erasure that was recorded before the restored second can have written after it. */
const CALL_SECONDS = 60

type Since = { since: Date }

/** Returns the times of the lost erasures. The restored table has those since `restore begin`. */
const lostSpan = async ({ since }: Since, { at }: Pick<Author, 'at'>): Promise<Span | Refusal> => {
  const restore = await findRestore()
  if (!restore) return new Refusal(1404, { details: 'no restore has begun' })
  const from = secondsAfter(since, -CALL_SECONDS)
  if (from >= restore.begunAt)
    return invalid({ since: ['must be less than a minute after the restore began'] })
  return since < secondsAfter(at, -ERASURE_DAYS * DAY_SECONDS)
    ? invalid({ since: [`must be within ${ERASURE_DAYS} days`] })
    : { from, before: restore.begunAt }
}

export const refusalToRepeat = async (
  options: Since,
  author: Pick<Author, 'at'>,
): Promise<Refusal | undefined> => {
  const span = await lostSpan(options, author)
  return span instanceof Refusal ? span : undefined
}

/**
 * Repeats the erasures since the second to which the table was restored. Customers with open work are
 * `refused`, and a repeated call erases them later.
 */
export const repeatErasures = async (
  options: Since,
  author: Author,
  runtime: Runtime,
): Promise<RepeatedErasures | Refusal> => {
  const span = await lostSpan(options, author)
  if (span instanceof Refusal) return span
  // Its request ends after the last erasure.
  const { scope: _, approval, ...recording } = author
  const timeIsUp = timeLimit(runtime, BEGIN_MS)
  await putChange({ ...recording, target: 'erasures' }, { since: options.since.toISOString() })
  const result = { repeated: 0, erased: 0, later: 0, unreadable: 0 }
  const refused: string[] = []
  for await (const { at, phone } of erasuresWithin(span)) {
    const next = secondsAfter(at, CALL_SECONDS).toISOString()
    if (timeIsUp()) return { ...result, refused, next }
    if (phone === undefined) {
      result.unreadable += 1
      continue
    }
    const reason = `Erasure of ${at.toISOString()}, after a restore`
    const own = { ...recording, id: runtime.newId() }
    const done = await eraseCustomer({ phone, reason }, own, runtime)
    if (done instanceof Refusal) refused.push(`${at.toISOString()}: ${done.details}`)
    else {
      result.repeated += 1
      result.erased += done.erased
      result.later += done.later
    }
  }
  return { ...result, refused, next: null }
}
