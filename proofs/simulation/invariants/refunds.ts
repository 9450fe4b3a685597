import type { RefundStatus } from '../../../shared/domain/debits/refund.ts'
import type { BankPost } from '../engine/observations.ts'
import { membersOf } from './calls.ts'
import type { History } from './item-histories.ts'
import { expectations } from './lifecycle.ts'
import type { Check, DebitHistory, ObservationIndex, Reporter } from './observation-index.ts'
import { beginOf, payeeOf, type RawRefund } from './raw-items.ts'
import { HOUR_MS, inGhs } from './time-and-money.ts'

/** The longest time from the last fault to the end of a refund: the sweep doubles its delays. */
const END_MS = 6 * HOUR_MS

/** 39: its bank refunds a reversed debit once and in full; a failed refund has an exception. */
export const reversalsAreRefundedOnce: Check = (index, report) => {
  const { debits, refunds, observations, bankPostsTo, byUuid } = index
  const postsOf = Map.groupBy(bankPostsTo.get('/refunds') ?? [], ({ body }) =>
    String(body.debit_uuid),
  )
  for (const [reference, debit] of debits) {
    const refund = refunds.get(reference)
    const isReversal = expectations[debit.item.status].refund === 'reversal'
    if (!refund) continue
    if (!isReversal && !isLateCompletion(debit, index)) {
      report(reference, 'has a refund without a reversal')
    }
    // A worker of the earlier release gives a refund no name: the id replaces it.
    const isNamed =
      observations.setup.otherRelease !== 'earlier' || payeeOf(refund.item) !== refund.item.provider
    if (isNamed && payeeOf(refund.item) !== payeeOf(debit.item)) {
      report(reference, `has a refund in the name of ${payeeOf(refund.item)}`)
    }
    for (const post of postsOf.get(debit.uuid) ?? []) checkPost(post, debit, refund, index, report)
    checkRefund(refund, index, report)
  }
  // A restore may lose a reversal whose refund the bank has paid; the bank's statement shows it.
  if (observations.setup.isRestored) return
  for (const uuid of postsOf.keys()) {
    if (!refunds.has(byUuid.get(uuid)?.item.reference ?? '')) report(uuid, 'has an unknown refund')
  }
}

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

/** The refund goes to the debited account, as the bank knows it, after it was recorded. */
const checkPost = (
  { at, bank, body, idempotencyKey }: BankPost,
  { item: debit, changes: debitChanges }: DebitHistory,
  { item: refund, changes }: History<RawRefund>,
  { timeline, byUuid }: ObservationIndex,
  report: Reporter,
): void => {
  // A restore may have changed it since.
  const sent = debitChanges.findLast((change) => change.at <= at)?.after ?? debit
  const { reference, phone } = debit
  if (bank !== debit.bank.identifier) report(reference, `is refunded by ${bank}`)
  if (body.amount !== inGhs(debit.amount)) report(reference, `is refunded ${body.amount}`)
  const payee = membersOf(body.payee).name
  if (payee !== payeeOf(refund)) report(reference, `is refunded in the name of ${payee}`)
  const { accountNumber } = sent.history.find(({ set }) => set?.accountNumber)?.set ?? {}
  const from = byUuid.get(String(body.debit_uuid))?.createdAt ?? at
  const numbers = timeline.during('customer', `${phone} ${bank}`, from, at)
  const isKnown = accountNumber === undefined || numbers.includes(accountNumber)
  if (body.account_number !== (accountNumber ?? null) || !isKnown) {
    report(reference, `is refunded to ${body.account_number}, not to ${accountNumber}`)
  }
  const begun = beginOf(changes, idempotencyKey)
  if (!(begun && begun.at <= at)) {
    report(reference, `was sent as ${idempotencyKey} before it was recorded`)
  }
}

const ENDS: Record<RefundStatus, boolean> = {
  pending: false,
  processing: false,
  completed: true,
  failed: true,
  waived: true,
}

const checkRefund = (
  { item: { uuid, reference, status }, changes }: History<RawRefund>,
  { observations: { setup }, refundFailures }: ObservationIndex,
  report: Reporter,
): void => {
  for (const { before, after } of changes) {
    const isRetry = before?.status === 'failed' && after?.status === 'pending'
    if (before && after && (before.uuid !== after.uuid) !== isRetry) {
      report(reference, `has the uuid ${after.uuid} after ${before.uuid}`)
    }
  }
  if (refundFailures.has(uuid) !== (status === 'failed')) {
    report(reference, `is ${status}, with the wrong exception`)
  }
  const since = Math.max(setup.healedAt, changes.at(-1)?.at ?? 0)
  if (!ENDS[status] && setup.endedAt - since > END_MS) {
    report(reference, `has a refund that is ${status} at the end`)
  }
}
