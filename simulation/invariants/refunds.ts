import type { BankPost } from '../engine/observations.ts'
import type { Check, Reporter } from './invariant.ts'
import type { DebitHistory, ObservationIndex, RefundHistory } from './observation-index.ts'
import { membersOf } from './reply.ts'
import { inGhs } from './time-and-money.ts'

/** The longest time from the last fault to the end of a refund: the sweep doubles its delays. */
const END_MS = 6 * 3_600_000

/** 39: its bank refunds a reversed debit once and in full; a failed refund has an exception. */
export const reversalsAreRefundedOnce: Check = (index, report) => {
  const { debits, refunds, observations } = index
  const handed = Map.groupBy(
    observations.bankPosts.filter(({ path }) => path === '/refunds'),
    ({ body }) => String(body.debit_uuid),
  )
  for (const [reference, debit] of debits) {
    const refund = refunds.get(reference)
    if (debit.item.status === 'reversed' && !refund) report(reference, 'has no refund')
    if (!refund) continue
    if (debit.item.status !== 'reversed' && !isLateCompletion(debit, index)) {
      report(reference, 'has a refund without a reversal')
    }
    const posts = handed.get(debit.item.uuid) ?? []
    for (const post of posts) checkPost(post, debit, index, report)
    checkRefund(refund, debit, posts, { index, report })
  }
  // A restore may lose a reversal whose refund the bank has paid; the bank's statement shows it.
  if (observations.setup.isRestored) return
  for (const uuid of handed.keys()) {
    const reference = index.byUuid.get(uuid)?.item.reference
    if (reference === undefined || !refunds.has(reference)) report(uuid, 'has an unknown refund')
  }
}

/** Reports whether its bank completed a failed debit, and an operator refunds it without a note. */
const isLateCompletion = (
  { item }: DebitHistory,
  { reports, observations }: ObservationIndex,
): boolean => {
  const completions = reports.flatMap(({ uuid, status, call }) =>
    uuid === item.uuid && status === 'completed' ? [call] : [],
  )
  const decisions = observations.calls.filter(({ name, sent }) => {
    const { options } = membersOf(sent)
    return name === 'manage-exception' && membersOf(options).reference === item.reference
  })
  const isNoted = (from: number, to: number): boolean =>
    decisions.some(({ sent, reply }) => {
      const { verb, options } = membersOf(sent)
      const kind = membersOf(options).kind ?? 'late_completion'
      const isNote = verb === 'resolve' && kind === 'late_completion' && reply?.status === 200
      return isNote && reply.at > from && reply.at < to
    })
  const isRequested = decisions.some(
    ({ sent, at }) =>
      membersOf(sent).verb === 'refund' &&
      completions.some((call) => call.at < at && !isNoted(call.reply?.at ?? call.at, at)),
  )
  return item.status === 'failed' && isRequested
}

/** The refund goes to the debited account, as the bank knows it. */
const checkPost = (
  { bank, body, idempotencyKey }: BankPost,
  { item: debit }: DebitHistory,
  { observations: { setup } }: ObservationIndex,
  report: Reporter,
): void => {
  const { reference, phone } = debit
  if (bank !== debit.bank.identifier) report(reference, `is refunded by ${bank}`)
  if (body.uuid !== idempotencyKey) report(reference, `is refunded as ${idempotencyKey}`)
  if (body.amount !== inGhs(debit.amount) || body.currency !== 'GHS') {
    report(reference, `is refunded ${body.amount} ${body.currency}`)
  }
  const account = setup.customerAccounts[phone] ?? null
  if (body.account_number !== account && body.account_number !== null) {
    report(reference, `is refunded to ${body.account_number}, not to ${account}`)
  }
}

type Report = { index: ObservationIndex; report: Reporter }

const checkRefund = (
  { item: refund, changes }: RefundHistory,
  { item: debit }: DebitHistory,
  handed: readonly BankPost[],
  { index, report }: Report,
): void => {
  const { reference, uuid, status, bank } = refund
  const isOfDebit =
    refund.amount === debit.amount &&
    refund.provider === debit.provider &&
    bank === debit.bank.identifier
  if (!isOfDebit) report(reference, 'has a refund of another debit')
  for (const { at, idempotencyKey } of handed) {
    const isRecorded = changes.some(
      ({ after, at: recordedAt }) =>
        after?.uuid === idempotencyKey && after.status === 'processing' && recordedAt <= at,
    )
    if (!isRecorded) report(reference, `was sent as ${idempotencyKey} before it was recorded`)
  }
  for (const { before, after } of changes) {
    const isRetry = before?.status === 'failed' && after?.status === 'pending'
    if (before && after && (before.uuid !== after.uuid) !== isRetry) {
      report(reference, `has the uuid ${after.uuid} after ${before.uuid}`)
    }
  }
  const { setup } = index.observations
  const failure = index.refundFailures.get(uuid)
  if ((failure !== undefined) !== (status === 'failed')) {
    report(reference, `is ${status}, with the wrong exception`)
  }
  const since = Math.max(setup.healedAt, changes.at(-1)?.at ?? 0)
  if (status !== 'completed' && status !== 'failed' && setup.endedAt - since > END_MS) {
    report(reference, `has a refund that is ${status} at the end`)
  }
  if (setup.endpoints.includes(bank)) checkVerdicts(refund, handed, report)
}

/** The bank's final words, by the uuid of the refund. */
const checkVerdicts = (
  { reference, uuid, status }: RefundHistory['item'],
  handed: readonly BankPost[],
  report: Reporter,
): void => {
  const verdicts = new Map(handed.map(({ idempotencyKey, verdict }) => [idempotencyKey, verdict]))
  const paid = [...verdicts.values()].filter((verdict) => verdict === 'paid').length
  if (paid > 1) report(reference, `was refunded ${paid} times`)
  const last = verdicts.get(uuid)
  if (status === 'completed' && last !== 'paid')
    report(reference, 'is refunded, but not by its bank')
  if (status === 'failed' && last !== 'rejected') {
    report(reference, 'has a failed refund that its bank did not reject')
  }
  for (const [key, verdict] of verdicts) {
    if (key !== uuid && verdict !== 'rejected') {
      report(reference, `was refunded as ${key}, then retried as ${uuid}`)
    }
  }
}
