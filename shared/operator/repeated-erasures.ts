import { ERASURE_DAYS } from '../domain/operator/restore.ts'
import { invalid, Refusal } from '../domain/refusal.ts'
import { DAY_SECONDS, secondsAfter } from '../domain/time.ts'
import { type Runtime, timeLimit } from '../runtime.ts'
import { putChange } from '../store/operator/changes.ts'
import type { RepeatedErasures } from '../views/operator/customer.ts'
import { eraseCustomer } from './customer-erasure.ts'
import { erasuresWithin } from './erasure-records.ts'
import type { Author } from './handler.ts'

/** The part of the function's minute in which another erasure may begin: one takes up to half a minute. */
const BEGIN_MS = 20_000

export const refusalToRepeat = async (
  { since }: { since: Date },
  { at }: Pick<Author, 'at'>,
): Promise<Refusal | undefined> => {
  if (since > at) return invalid({ since: ['must not be in the future'] })
  return since < secondsAfter(at, -ERASURE_DAYS * DAY_SECONDS)
    ? invalid({ since: [`must be within ${ERASURE_DAYS} days`] })
    : undefined
}

/**
 * Repeats the erasures since the second to which the table was restored. Customers with open work are
 * `refused`, and a repeated call erases them later.
 */
export const repeatErasures = async (
  options: { since: Date },
  author: Author,
  runtime: Runtime,
): Promise<RepeatedErasures | Refusal> => {
  const refusal = await refusalToRepeat(options, author)
  if (refusal) return refusal
  const { since } = options
  const { scope: _, approval, ...recording } = author
  const timeIsUp = timeLimit(runtime, BEGIN_MS)
  await putChange({ ...recording, target: 'erasures' }, { since: since.toISOString() })
  const result = { repeated: 0, erased: 0, later: 0, unreadable: 0 }
  const refused: string[] = []
  for await (const { at, phone } of erasuresWithin({ from: since, before: author.at })) {
    if (timeIsUp()) return { ...result, refused, next: at.toISOString() }
    if (phone === undefined) {
      result.unreadable += 1
      continue
    }
    const reason = `Erasure of ${at.toISOString()}, after a restore`
    const own = { ...author, id: runtime.newId() }
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
