import type { BankPost } from '../engine/observations.ts'
import { allOf, type Check } from './invariant.ts'
import type { ObservationIndex } from './observation-index.ts'
import { MINUTE_MS, SECOND_MS } from './time-and-money.ts'

/** 43: when the service may send a POST to a bank. */

/** Reports whether an invocation may send without a query: it starts the payout or refund. */
const isFirst = (
  { path, idempotencyKey, body, by }: BankPost,
  index: ObservationIndex,
): boolean => {
  const { invocations } = index.observations
  if (path === '/submissions') {
    return invocations.get(by ?? 0)?.repeated.includes(String(body.reference)) === false
  }
  const debit = index.byUuid.get(String(body.debit_uuid))
  const changes =
    path === '/settlements'
      ? index.batches.get(String(body.batch))?.changes
      : index.refunds.get(debit?.item.reference ?? '')?.changes
  return (changes ?? []).some(
    ({ after, by: writer }) =>
      after?.uuid === idempotencyKey && after.status === 'processing' && writer?.invocation === by,
  )
}

/** 43: a repeated POST follows a query that found nothing, so that also a simple bank acts once. */
const repeatsFollowQuery: Check = (index, report) => {
  const { bankPosts, queries } = index.observations
  const queriesOf = Map.groupBy(queries, ({ uuid }) => uuid)
  for (const [key, posts] of Map.groupBy(bankPosts, ({ idempotencyKey }) => idempotencyKey)) {
    for (const post of posts.slice(1)) {
      const isQueried = (queriesOf.get(key) ?? []).some(
        ({ by, at, answer }) => by === post.by && at <= post.at && answer === 'nothing',
      )
      if (!isQueried && !isFirst(post, index)) {
        report(key, `was sent again to ${post.bank}${post.path} without a query`)
      }
    }
  }
}

const SUBMITTED_MS = 10 * MINUTE_MS
/** The longest time from the check of the deadline to the POST: two bank timeouts. */
const SENDING_MS = 45 * SECOND_MS
const HEALTHY_SENDING_MS = 5 * SECOND_MS

/** 43: no debit is submitted ten minutes after its charge, nor after its end. */
const submissionsAreInTime: Check = ({ observations, byUuid }, report) => {
  const { bankPosts, invocations, setup } = observations
  const slack = (setup.isHealthy ? HEALTHY_SENDING_MS : SENDING_MS) + setup.skew
  for (const { path, body, at, by } of bankPosts) {
    const debit = path === '/submissions' && byUuid.get(String(body.uuid))
    if (!debit) continue
    const { reference } = debit.item
    const startedAt = invocations.get(by ?? 0)?.startedAt ?? at
    const isLate = startedAt - debit.createdAt > SUBMITTED_MS + 2 * setup.skew
    const isSlow = setup.isHealthy && at - debit.createdAt > SUBMITTED_MS + slack
    if (isLate || isSlow)
      report(reference, `was submitted ${at - debit.createdAt} ms after its charge`)
    const endedAt = debit.changes.find(({ after }) => after && after.status !== 'pending')?.at
    if (endedAt !== undefined && endedAt < startedAt) {
      report(reference, 'was submitted after it had left the status pending')
    }
  }
}

export const postsAreDue = allOf(repeatsFollowQuery, submissionsAreInTime)
