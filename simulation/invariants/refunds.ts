import type { BankPost } from '../engine/observations.ts'
import type { Check, Reporter } from './invariant.ts'
import type { DebitHistory, ObservationIndex, RefundHistory } from './observation-index.ts'
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
    if (debit.item.status !== 'reversed') report(reference, 'has a refund without a reversal')
    checkRefund(refund, debit, handed.get(debit.item.uuid) ?? [], { index, report })
  }
  for (const uuid of handed.keys()) {
    if (!index.byUuid.has(uuid)) report(uuid, 'is refunded, but does not exist')
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
  const recordedAt = changes.find(({ after }) => after?.status === 'processing')?.at
  for (const { at, bank: to, idempotencyKey, body } of handed) {
    const isSame = to === bank && idempotencyKey === uuid && body.uuid === uuid
    if (!isSame) report(reference, `is refunded by ${to} as ${idempotencyKey}`)
    if (body.amount !== inGhs(debit.amount)) report(reference, `is refunded ${body.amount}`)
    if (recordedAt === undefined || at < recordedAt) {
      report(reference, 'was sent before it was recorded')
    }
  }
  const { setup } = index.observations
  const hasFailure = index.refundFailures.has(uuid)
  if (hasFailure !== (status === 'failed'))
    report(reference, `is ${status}, with the wrong exception`)
  const since = Math.max(setup.healedAt, Date.parse(refund.createdAt))
  if (status !== 'completed' && status !== 'failed' && setup.endedAt - since > END_MS) {
    report(reference, `has a refund that is ${status} at the end`)
  }
  if (!setup.endpoints.includes(bank)) return
  const verdicts = handed.filter(({ effective }) => effective).map(({ verdict }) => verdict)
  const paid = verdicts.filter((verdict) => verdict === 'paid').length
  if (paid > 1) report(reference, `was refunded ${paid} times`)
  if (status === 'completed' && paid !== 1) report(reference, 'is refunded, but not by its bank')
  if (status === 'failed' && !verdicts.includes('rejected')) {
    report(reference, 'has a failed refund that its bank did not reject')
  }
}
