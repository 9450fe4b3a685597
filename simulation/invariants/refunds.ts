import type { HandOver } from '../engine/observations.ts'
import type { Books, DebitBook, RefundBook } from './debit-histories.ts'
import type { Check, Complain } from './invariant.ts'
import { inGhs } from './time-and-money.ts'

/** A refund ends within this time of the last fault: the sweep doubles its delays. */
const END_MS = 6 * 3_600_000

/** 39: a reversed debit is refunded once and in full by its bank, and a failure is an exception. */
export const isRefundedOnce: Check = (books, complain) => {
  const { debits, refunds, witnessed } = books
  const handed = Map.groupBy(
    witnessed.handOvers.filter(({ path }) => path === '/refunds'),
    ({ body }) => String(body.debit_uuid),
  )
  for (const [reference, debit] of debits) {
    const refund = refunds.get(reference)
    if (debit.item.status === 'reversed' && !refund) complain(reference, 'has no refund')
    if (!refund) continue
    if (debit.item.status !== 'reversed') complain(reference, 'has a refund without a reversal')
    checkRefund(refund, debit, handed.get(debit.item.uuid) ?? [], { books, complain })
  }
  for (const uuid of handed.keys()) {
    if (!books.byUuid.has(uuid)) complain(uuid, 'is refunded, and does not exist')
  }
}

type Report = { books: Books; complain: Complain }

const checkRefund = (
  { item: refund, changes }: RefundBook,
  { item: debit }: DebitBook,
  handed: readonly HandOver[],
  { books, complain }: Report,
): void => {
  const { reference, uuid, status, bank } = refund
  const isOfDebit =
    refund.amount === debit.amount &&
    refund.provider === debit.provider &&
    bank === debit.bank.identifier
  if (!isOfDebit) complain(reference, 'has a refund of another debit')
  const recordedAt = changes.find(({ after }) => after?.status === 'processing')?.at
  for (const { at, bank: to, idempotencyKey, body } of handed) {
    const isSame = to === bank && idempotencyKey === uuid && body.uuid === uuid
    if (!isSame) complain(reference, `is refunded by ${to} as ${idempotencyKey}`)
    if (body.amount !== inGhs(debit.amount)) complain(reference, `is refunded ${body.amount}`)
    if (recordedAt === undefined || at < recordedAt) {
      complain(reference, 'was sent before it was recorded')
    }
  }
  const { scene } = books.witnessed
  const hasFailure = books.refundFailures.has(uuid)
  if (hasFailure !== (status === 'failed')) complain(reference, `is ${status}, wrong exception`)
  const since = Math.max(scene.healedAt, Date.parse(refund.createdAt))
  if (status !== 'completed' && status !== 'failed' && scene.endedAt - since > END_MS) {
    complain(reference, `has a refund that is ${status} at the end`)
  }
  if (!scene.endpoints.includes(bank)) return
  const verdicts = handed.filter(({ effective }) => effective).map(({ verdict }) => verdict)
  const paid = verdicts.filter((verdict) => verdict === 'paid').length
  if (paid > 1) complain(reference, `was refunded ${paid} times`)
  if (status === 'completed' && paid !== 1) complain(reference, 'is refunded, its bank says no')
  if (status === 'failed' && !verdicts.includes('rejected')) {
    complain(reference, 'has a failed refund that its bank did not reject')
  }
}
