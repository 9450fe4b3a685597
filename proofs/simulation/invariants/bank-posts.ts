import type { Shows } from '../../../shared/domain/complete.ts'
import type { RefundStatus } from '../../../shared/domain/debits/refund.ts'
import type { Submission } from '../../../shared/domain/debits/submission.ts'
import type { BankPost } from '../engine/observations.ts'
import { membersOf, restoreOf } from './calls.ts'
import { expectations } from './lifecycle.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { differing } from './payload.ts'
import { beginOf, payeeOf } from './raw-items.ts'
import { type Check, type Checks, eachDebit, eachRefund } from './rules.ts'
import { HOUR_MS, inGhs, MINUTE_MS, SECOND_MS } from './time-and-money.ts'

/** The POSTs to banks: submissions, payouts and refunds. */

/**
 * An account can become known before a repeat; 57 compares it. A refund that a restore undid is ordered again
 * under its uuid.
 */
const bodyOf = ({ bank, path, body }: BankPost, isRestored: boolean): object => ({
  ...body,
  to: bank + path,
  ...(path === '/submissions' && { account_number: undefined }),
  ...(path === '/refunds' && isRestored && { timestamp: undefined, reason: undefined }),
})

const keysHaveOneBody: Check = ({ bankPostsOf, operatorCalls, setup }, report) => {
  const isRestored = restoreOf(operatorCalls) !== undefined
  for (const [key, posts] of bankPostsOf) {
    const effective = posts.filter((post) => post.effective).length
    if (effective > 1 && setup.isIdempotent) report(key, `was acted on ${effective} times`)
    const sent = posts.map((post) => JSON.stringify(bodyOf(post, isRestored)))
    if (new Set(sent).size > 1) report(key, 'was sent with different bodies')
    for (const { body } of posts) {
      if (body.uuid !== key) report(key, `was sent with the uuid ${body.uuid}`)
      if (body.currency !== 'GHS') report(key, `was sent with the currency ${body.currency}`)
    }
  }
}

const sentAmountsArePositive: Check = ({ bankPosts }, report) => {
  for (const { idempotencyKey, bank, path, body } of bankPosts)
    if (!(Number(body.amount) > 0)) report(idempotencyKey, `sends ${body.amount} to ${bank}${path}`)
}

const submissionsMatchDebits: Check = ({ submissions, byUuid, setup }, report) => {
  for (const { body, bank, at } of submissions) {
    const debit = byUuid.get(String(body.uuid))
    // A restore may lose a submitted debit.
    if (!debit && !setup.isRestored) report(String(body.uuid), 'was submitted, but does not exist')
    if (!debit) continue
    const { item, uuid, changes, createdAt } = debit
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
}

/** Reports whether a sidelined submission follows one without a reply, not a copy of its message or record. */
const followsAttempt = (
  reference: string,
  first: BankPost | undefined,
  { invocations, strikes }: ObservationIndex['observations'],
): boolean => {
  const { name, isFinished, repeated } = invocations.get(first?.by ?? 0) ?? {}
  const isCopied = strikes.some(({ name, at, about }) =>
    name === 'record twice' || name === 'record unreadable'
      ? Math.abs(at - (first?.at ?? at)) < MINUTE_MS
      : about.includes(reference) && !about.startsWith('submit-to-bank'),
  )
  // The sweep can be ahead of a late record, whose message is then no repeat.
  const isOfSweep = repeated?.includes(reference) === true
  return name === 'submit-to-bank' && isFinished === true && !isCopied && !isOfSweep
}

/** Reports whether an invocation may send without a query: it starts the payout or refund, and no restore undid another start. */
const isFirst = (
  { path, idempotencyKey, body, by, since }: BankPost & { since: number },
  [first]: readonly BankPost[],
  index: ObservationIndex,
): boolean => {
  const { observations, batches, refunds, byUuid } = index
  const restoredAt = restoreOf(index.operatorCalls)?.reply?.at ?? Infinity
  if (first && first.at < restoredAt && restoredAt < since) return false
  if (path === '/submissions') {
    const { name, repeated } = observations.invocations.get(by ?? 0) ?? {}
    const reference = String(body.reference)
    if (name === 'submit-sidelined' && followsAttempt(reference, first, observations)) return false
    return repeated?.includes(reference) === false
  }
  const debit = byUuid.get(String(body.debit_uuid))
  const { changes } =
    (path === '/settlements'
      ? batches.get(String(body.batch))
      : refunds.get(debit?.item.reference ?? '')) ?? {}
  return (changes ?? []).some(
    ({ before, after, by: writer }) =>
      before?.status !== 'processing' &&
      after?.uuid === idempotencyKey &&
      after.status === 'processing' &&
      writer?.invocation === by,
  )
}

/** A repeated POST follows a query that found nothing, so that also a simple bank acts once. */
const repeatsFollowQuery: Check = (index, report) => {
  for (const [key, posts] of index.bankPostsOf) {
    for (const post of posts.slice(1)) {
      const isQueried = index.queriesOf
        .get(key)
        ?.some(({ by, at, answer }) => by === post.by && at <= post.at && answer === 'nothing')
      if (!isQueried && !isFirst(post, posts, index))
        report(key, `was sent again to ${post.bank}${post.path} without a query`)
    }
  }
}

const SUBMITTED_MS = 7 * MINUTE_MS
/** The longest time from the check of the deadline to the POST, without faults. */
const SENDING_MS = 5 * SECOND_MS

/** No debit is submitted seven minutes after its charge, nor after its end. */
const submissionsAreInTime = eachDebit(({ uuid, createdAt, changes }, { bankPostsOf, setup }) =>
  (bankPostsOf.get(uuid) ?? [])
    .filter(({ path }) => path === '/submissions')
    .flatMap(({ at, since }) => {
      const isLate = since - createdAt > SUBMITTED_MS + 2 * setup.skew
      const isSlow = setup.isHealthy && at - createdAt > SUBMITTED_MS + SENDING_MS + setup.skew
      const endedAt = changes.find(({ after }) => after && after.status !== 'pending')?.at
      const isEnded = (endedAt ?? Infinity) < since
      return [
        (isLate || isSlow) && `was submitted ${at - createdAt} ms after its charge`,
        isEnded && 'was submitted after it had left the status pending',
      ]
    }),
)

/** A bank gets a debit before a status that follows from it, and never a debit that is withheld. */
const statusesFollowSubmissions = eachDebit(({ item, uuid, changes }, { setup, bankPostsOf }) => {
  if (!setup.endpoints.includes(item.bank.identifier)) return undefined
  return changes.map(({ before, after, at }) => {
    if (!after || after.status === before?.status) return undefined
    const { submitted } = expectations[after.status]
    const isSent = bankPostsOf.get(uuid)?.some((post) => submitted === 'never' || post.at <= at)
    const isRight = submitted === 'maybe' || Boolean(isSent) === (submitted === 'always')
    return !isRight && `is ${after.status}, but was ${isSent ? '' : 'not '}submitted`
  })
})

const isLateCompletion = (
  { item, uuid: own }: DebitHistory,
  { reports, queriesOf, decisionsOf }: ObservationIndex,
): boolean => {
  const completions = [
    ...reports
      .filter(({ uuid, status }) => uuid === own && status === 'completed')
      .map(({ call }) => call.at),
    ...(queriesOf.get(own) ?? [])
      .filter(({ answer }) => answer === 'completed')
      .map(({ at }) => at),
  ]
  const decisions = decisionsOf(item.reference)
  const isNoted = (at: number): boolean =>
    decisions.some(({ call: { reply }, verb, options: { kind = 'late_completion' } }) => {
      const isNote = verb === 'resolve' && kind === 'late_completion' && reply?.status === 200
      return isNote && reply.at < at
    })
  const isRequested = decisions.some(
    ({ verb, options, call: { at } }) =>
      verb === 'refund' &&
      completions.some((reportedAt) => reportedAt < at) &&
      (options['despite-note'] !== undefined || !isNoted(at)),
  )
  return expectations[item.status].refund === 'late_completion' && isRequested
}

const refundsHaveCauses = eachDebit((debit, index) => {
  const refund = index.refunds.get(debit.item.reference)?.item
  if (!refund) return undefined
  const isReversal = expectations[debit.item.status].refund === 'reversal'
  // A worker of the earlier release gives a refund no name: the id replaces it.
  const isNamed = index.setup.otherRelease !== 'earlier' || payeeOf(refund) !== refund.provider
  const isOther = isNamed && payeeOf(refund) !== payeeOf(debit.item)
  return [
    !isReversal && !isLateCompletion(debit, index) && 'has a refund without a reversal',
    isOther && `has a refund in the name of ${payeeOf(refund)}`,
  ]
})

/** A refund goes to the debited account, as the bank knows it, after it was recorded. */
const refundsReachTheirCustomer: Check = (index, report) => {
  for (const { at, bank, body, idempotencyKey } of index.refundPosts) {
    const debit = index.byUuid.get(String(body.debit_uuid))
    const refund = index.refunds.get(debit?.item.reference ?? '')
    // A restore may lose a reversal whose refund the bank has paid; the bank's statement shows it.
    if (!refund && !index.setup.isRestored) report(String(body.debit_uuid), 'has an unknown refund')
    if (!debit || !refund) continue
    const { reference, phone, amount, bank: own } = debit.item
    // A restore may have changed it since.
    const { history } = debit.changes.findLast((change) => change.at <= at)?.after ?? debit.item
    const { accountNumber } = history.find(({ set }) => set?.accountNumber)?.set ?? {}
    const customer = `${phone} ${bank}`
    // The clock of the charge may be ahead.
    const from = Math.min(debit.createdAt, debit.changes[0]?.at ?? at)
    const numbers = index.timeline.during('customer', customer, from, at)
    const isKnown = accountNumber === undefined || numbers.includes(accountNumber)
    const payee = membersOf(body.payee).name
    if (bank !== own.identifier) report(reference, `is refunded by ${bank}`)
    if (body.amount !== inGhs(amount)) report(reference, `is refunded ${body.amount}`)
    if (payee !== payeeOf(refund.item)) report(reference, `is refunded in the name of ${payee}`)
    if (body.account_number !== (accountNumber ?? null) || !isKnown)
      report(reference, `is refunded to ${body.account_number}, not to ${accountNumber}`)
    if ((beginOf(refund.changes, idempotencyKey)?.at ?? Infinity) > at)
      report(reference, `was sent as ${idempotencyKey} before it was recorded`)
  }
}

/** The longest time from the last fault to the end of a refund: the sweep doubles its delays. */
const END_MS = 6 * HOUR_MS

const ENDS: Record<RefundStatus, boolean> = {
  pending: false,
  processing: false,
  completed: true,
  failed: true,
  waived: true,
}

const refundsEnd = eachRefund(({ item: { uuid, status }, changes }, index) => {
  const { setup, refundFailures } = index
  const since = Math.max(setup.healedAt, changes.at(-1)?.at ?? 0)
  return [
    ...changes.map(({ before, after, by }) => {
      const isRetry = before?.status === 'failed' && after?.status === 'pending'
      // A restore has no author, and may undo a failure.
      const isWrong = by && before && after && (before.uuid !== after.uuid) !== isRetry
      return isWrong && `has the uuid ${after.uuid} after ${before.uuid}`
    }),
    refundFailures.has(uuid) !== (status === 'failed') && `is ${status}, with the wrong exception`,
    !ENDS[status] && setup.endedAt - since > END_MS && `has a refund that is ${status} at the end`,
  ]
})

export const checks: Checks = {
  11: [keysHaveOneBody, submissionsMatchDebits],
  39: [refundsHaveCauses, refundsReachTheirCustomer, refundsEnd],
  43: [repeatsFollowQuery, submissionsAreInTime, statusesFollowSubmissions],
  60: [sentAmountsArePositive],
}
