import type { Shows } from '../../../shared/domain/complete.ts'
import type { Submission } from '../../../shared/domain/debits/submission.ts'
import type { BankPost, Observations } from '../engine/observations.ts'
import { expectations } from './lifecycle.ts'
import type { Check, DebitHistory, ObservationIndex, Reporter } from './observation-index.ts'
import { differing } from './payload.ts'
import { payeeOf } from './raw-items.ts'
import { restoreOf } from './restores.ts'
import { inGhs, MINUTE_MS, SECOND_MS } from './time-and-money.ts'

/** 11, 43: the POSTs to banks: submissions, payouts and refunds. */

export const keysHaveOneBody: Check = ({ bankPostsOf, observations: { setup } }, report) => {
  for (const [key, posts] of bankPostsOf) {
    const effective = posts.filter((post) => post.effective).length
    if (effective > 1 && setup.isIdempotent) report(key, `was acted on ${effective} times`)
    const sent = posts.map(({ bank, path, body }) => `${bank}${path} ${JSON.stringify(body)}`)
    if (new Set(sent).size > 1) report(key, 'was sent with different bodies')
    for (const { body } of posts) {
      if (body.uuid !== key) report(key, `was sent with the uuid ${body.uuid}`)
      if (body.currency !== 'GHS') report(key, `was sent with the currency ${body.currency}`)
    }
  }
}

export const submissionsMatchDebits: Check = ({ bankPostsTo, byUuid, observations }, report) => {
  for (const post of bankPostsTo.get('/submissions') ?? []) {
    const debit = byUuid.get(String(post.body.uuid))
    if (debit) checkSubmission(post, debit, report)
    // A restore may lose a submitted debit.
    else if (!observations.setup.isRestored) {
      report(String(post.body.uuid), 'was submitted, but does not exist')
    }
  }
}

const checkSubmission = (
  { body, bank, at }: BankPost,
  { item, uuid, changes, createdAt }: DebitHistory,
  report: Reporter,
): void => {
  const expected = {
    uuid,
    reference: item.reference,
    phone_number: item.phone,
    // Operators can change the account until the submission.
    account_number: body.account_number,
    amount: inGhs(item.amount),
    currency: 'GHS',
    payee: { name: payeeOf(item) },
    narration: item.narration,
    timestamp: new Date(createdAt).toISOString(),
  } satisfies Shows<
    Submission,
    'phone' | 'account' | 'providerName' | 'createdAt' | 'bank' | 'repeated'
  >
  const wrong = bank === item.bank.identifier ? differing(body, expected) : 'bank'
  if (wrong) report(item.reference, `was submitted to ${bank} with another ${wrong}`)
  if ((changes[0]?.at ?? Infinity) > at) report(item.reference, 'was submitted before it existed')
}

/**
 * Reports whether a sidelined submission follows one that got no reply. A copy of the first message does not, if
 * the bank was slow by then.
 */
const followsAttempt = (
  reference: string,
  first: BankPost | undefined,
  { invocations, strikes }: Observations,
): boolean => {
  const { name, isFinished } = invocations.get(first?.by ?? 0) ?? {}
  const isCopied = strikes.some(
    ({ about }) => about.includes(reference) && !about.startsWith('submit-to-bank'),
  )
  return name === 'submit-to-bank' && isFinished === true && !isCopied
}

/** Reports whether an invocation may send without a query: it starts the payout or refund, and no restore undid another start. */
const isFirst = (
  { path, idempotencyKey, body, by, at }: BankPost,
  [first]: readonly BankPost[],
  index: ObservationIndex,
): boolean => {
  const { observations, batches, refunds, byUuid, startOf } = index
  const restoredAt = restoreOf(index)?.reply?.at ?? Infinity
  if (first && first.at < restoredAt && restoredAt < startOf(by, at)) return false
  if (path === '/submissions') {
    const { name, repeated } = observations.invocations.get(by ?? 0) ?? {}
    const reference = String(body.reference)
    if (name === 'submit-sidelined' && followsAttempt(reference, first, observations)) return false
    return repeated?.includes(reference) === false
  }
  const debit = byUuid.get(String(body.debit_uuid))
  const changes =
    path === '/settlements'
      ? batches.get(String(body.batch))?.changes
      : refunds.get(debit?.item.reference ?? '')?.changes
  return (changes ?? []).some(
    ({ after, by: writer }) =>
      after?.uuid === idempotencyKey && after.status === 'processing' && writer?.invocation === by,
  )
}

/** 43: a repeated POST follows a query that found nothing, so that also a simple bank acts once. */
export const repeatsFollowQuery: Check = (index, report) => {
  for (const [key, posts] of index.bankPostsOf) {
    for (const post of posts.slice(1)) {
      const isQueried = (index.queriesOf.get(key) ?? []).some(
        ({ by, at, answer }) => by === post.by && at <= post.at && answer === 'nothing',
      )
      if (!isQueried && !isFirst(post, posts, index))
        report(key, `was sent again to ${post.bank}${post.path} without a query`)
    }
  }
}

const SUBMITTED_MS = 7 * MINUTE_MS
/** The longest time from the check of the deadline to the POST, without faults. */
const SENDING_MS = 5 * SECOND_MS

/** 43: no debit is submitted seven minutes after its charge, nor after its end. */
export const submissionsAreInTime: Check = (index, report) => {
  const { isHealthy, skew } = index.observations.setup
  for (const { body, at, by } of index.bankPostsTo.get('/submissions') ?? []) {
    const debit = index.byUuid.get(String(body.uuid))
    if (!debit) continue
    const { reference } = debit.item
    const startedAt = index.startOf(by, at)
    const isLate = startedAt - debit.createdAt > SUBMITTED_MS + 2 * skew
    const isSlow = isHealthy && at - debit.createdAt > SUBMITTED_MS + SENDING_MS + skew
    if (isLate || isSlow)
      report(reference, `was submitted ${at - debit.createdAt} ms after its charge`)
    const endedAt = debit.changes.find(({ after }) => after && after.status !== 'pending')?.at
    if (endedAt !== undefined && endedAt < startedAt)
      report(reference, 'was submitted after it had left the status pending')
  }
}

/** 43: a bank gets a debit before a status that follows from it, and never a debit that is withheld. */
export const statusesFollowSubmissions: Check = (index, report) => {
  for (const [reference, { item, uuid, changes }] of index.debits) {
    if (!index.observations.setup.endpoints.includes(item.bank.identifier)) continue
    const posts = index.bankPostsOf.get(uuid) ?? []
    for (const { before, after, at } of changes) {
      if (!after || after.status === before?.status) continue
      const { submitted } = expectations[after.status]
      const isSent = posts.some((post) => submitted === 'never' || post.at <= at)
      if (submitted !== 'maybe' && isSent !== (submitted === 'always'))
        report(reference, `is ${after.status}, but was ${isSent ? '' : 'not '}submitted`)
    }
  }
}
