import { defined } from '../domain/complete.ts'
import { advance, type Changes, type Debit, stateAt } from '../domain/debits/debit.ts'
import { eraseChanges } from '../domain/debits/erasure.ts'
import { blocksRefund, contradicted } from '../domain/debits/exception.ts'
import { checkTransition, isOpen, type Status } from '../domain/debits/lifecycle.ts'
import {
  type Refund,
  refundStatuses,
  reversalRefund,
  shownRefund,
} from '../domain/debits/refund.ts'
import type { Reference } from '../domain/ids.ts'
import { Refusal } from '../domain/refusal.ts'
import { mayBeInFlight } from '../domain/settlement/payout.ts'
import type { Runtime } from '../runtime.ts'
import { findDebit } from '../store/debits/debits.ts'
import { acceptanceWrite, findExceptions, findRequest } from '../store/debits/exceptions.ts'
import { recordRefundFailure } from '../store/debits/refund-failures.ts'
import { findRefund, refundCreation, refundReplacement } from '../store/debits/refunds.ts'
import { transition } from '../store/debits/transitions.ts'
import { changeWrites } from '../store/operator/changes.ts'
import { currentGeneration } from '../store/operator/restores.ts'
import { optimistically } from '../store/optimistic.ts'
import type { Write } from '../store/table.ts'
import { transact } from '../store/transactions.ts'
import { repairBeforeReversal } from '../sweep/repair.ts'
import type { Once } from './bulk.ts'
import { type Author, noSuch } from './handler.ts'

/** Transitions of debits and refunds by operators, each with its change record in one transaction. */

export const noSuchDebit = () => new Refusal(3404, { details: 'no such debit' })

const notPossible = ({ status }: Debit, to: Status) =>
  new Refusal(3001, { details: `cannot transition from ${status} to ${to}` })

/** Returns a debit whose outcome an operator can record. */
export const findOpenDebit = async (
  reference: Reference,
  to: 'completed' | 'failed',
): Promise<Debit | Refusal> => {
  const debit = await findDebit(reference)
  if (!debit) return noSuchDebit()
  return isOpen(debit.status) ? debit : notPossible(debit, to)
}

type TransitionRequest = {
  reference: Reference
  to: Status
  changes: Changes
  /** The fields of the change record, next to the status. */
  record: Record<string, string>
  /** Restricts the statuses further than the lifecycle. */
  isAllowedFrom: (status: Status) => boolean
  alongside?: (next: Debit) => readonly Write[]
}

export const transitionBy = async (
  { reference, to, changes, record, isAllowedFrom, alongside = () => [] }: TransitionRequest,
  author: Author,
  runtime: Runtime,
): Promise<Debit | Refusal> => {
  const at = runtime.now()
  const [debit, generation] = await Promise.all([findDebit(reference), currentGeneration(at)])
  if (!debit) return noSuchDebit()
  const by = `operator:${author.by}`
  const cause = { by, requestId: runtime.newId(), generation }
  const recording = { ...author, target: reference, provider: debit.facts.provider }
  const changesOf = ({ erasedAt }: Debit) => (erasedAt ? eraseChanges(changes, by) : changes)
  return transition(
    debit,
    (current) => {
      const next = isAllowedFrom(current.status)
        ? advance(current, { ...cause, at: runtime.now(), to, changes: changesOf(current) })
        : undefined
      return !next || next instanceof Refusal ? notPossible(current, to) : next
    },
    runtime,
    (previous, next) => [
      ...alongside(next),
      ...changeWrites(recording, { status: previous.status }, { status: next.status, ...record }),
    ],
  )
}

type Reversal = {
  reference: Reference
  reason: string
  /** Its text can name the customer, and records of changes outlive an erasure. */
  isReasonOfProvider?: boolean
  refund?: 'none' | undefined
}

/** Refuses to repeat a reversal with the other decision about the money. */
const otherReversal = (debit: Debit, refund: Reversal['refund']): Refusal | undefined => {
  const isSame = debit.status !== 'reversed' || stateAt(debit).refund === (refund ?? null)
  const how = refund ? 'with a refund' : 'with --refund none'
  return isSame ? undefined : new Refusal(1409, { details: `the debit is already reversed ${how}` })
}

/** Returns a debit that an operator can reverse, or that is reversed in this way. */
export const findReversible = async ({
  reference,
  refund,
}: Pick<Reversal, 'reference' | 'refund'>): Promise<Debit | Refusal> => {
  const [debit, exceptions] = await Promise.all([findDebit(reference), findExceptions(reference)])
  if (!debit) return noSuchDebit()
  if (checkTransition(debit.status, 'reversed') === 'refused') return notPossible(debit, 'reversed')
  if (!refund && exceptions.some(blocksRefund)) return contradicted()
  return otherReversal(debit, refund) ?? debit
}

/** Returns the write of a reversal's refund. A failover can leave a refund without its reversal. */
const refundWrites = (opened: Refund, existing: Refund | undefined): Write[] => {
  if (!existing) return [refundCreation(opened)]
  const isSent = existing.processedAt ?? existing.failedAt
  return isSent ? [] : [refundReplacement(existing, opened)]
}

const requestWrites = (reversed: Debit, { status, uuid }: Refund, { by, at }: Author): Write[] => {
  const note = status === 'waived' ? 'reversed without a refund' : `refund ${uuid}`
  return acceptanceWrite(reversed, { note, resolvedBy: by, resolvedAt: at.toISOString() })
}

/** Opens the refund and accepts the request of a reversed debit, if a failover lost them. */
const completeReversal = async (reversed: Debit, author: Author, runtime: Runtime) => {
  const { reference: target, provider } = reversed.facts
  const [refund, request] = await Promise.all([findRefund(target), findRequest(reversed)])
  const opened = reversalRefund(reversed)
  const writes = [
    ...(refund ? [] : [refundCreation(opened)]),
    ...(request && !request.resolvedAt ? requestWrites(reversed, opened, author) : []),
  ]
  if (writes.length === 0) return
  const recording = { ...author, target, provider }
  await transact([...writes, ...changeWrites(recording, {}, { refund: opened.uuid })], runtime)
}

/**
 * Reverses a completed debit, opens its refund and accepts the provider's request, if it has one. Leaves
 * a reversed debit unchanged, but completes a reversal of which a failover lost a part.
 */
export const reverseDebit = async (
  reversal: Reversal,
  author: Author,
  runtime: Runtime,
  once?: Once,
): Promise<Debit | Refusal> => {
  const reversible = await findReversible(reversal)
  if (reversible instanceof Refusal) return reversible
  const { reference, reason, isReasonOfProvider, refund } = reversal
  await repairBeforeReversal(reference, runtime.now())
  const [debit, existing] = await Promise.all([findDebit(reference), findRefund(reference)])
  const isRequestLost = debit?.reversalRequest !== undefined && !(await findRequest(debit))
  const record = { ...(!isReasonOfProvider && { reversal_reason: reason }), ...defined({ refund }) }
  const changes = { metadata: { reversal_reason: reason }, ...defined({ refund }) }
  const alongside = (next: Debit) => {
    const opened = reversalRefund(next)
    return [
      ...refundWrites(opened, existing),
      ...(isRequestLost ? [] : requestWrites(next, opened, author)),
      ...(once ? [once.write] : []),
    ]
  }
  const request = { reference, to: 'reversed', changes, record, alongside } as const
  const reversed = await transitionBy({ ...request, isAllowedFrom: () => true }, author, runtime)
  const isRepeated = debit && checkTransition(debit.status, 'reversed') === 'unchanged'
  if (reversed instanceof Refusal) return reversed
  const other = otherReversal(reversed, refund)
  if (isRepeated && !other) await completeReversal(reversed, author, runtime)
  return other ?? reversed
}

/** Returns a refund of which an operator can record that its bank will not make it. */
export const findOpenRefund = async (reference: Reference, at: Date): Promise<Refund | Refusal> => {
  const [debit, stored] = await Promise.all([findDebit(reference), findRefund(reference)])
  if (!debit) return noSuchDebit()
  const refund = shownRefund(stored)
  if (!refund) return noSuch('refund')
  const { isOpen: isUnanswered } = refundStatuses[refund.status]
  if (isUnanswered && !mayBeInFlight(refund, at)) return refund
  const details = isUnanswered
    ? 'a worker may be sending the refund: try again in a minute'
    : `the refund is ${refund.status}`
  return new Refusal(1409, { details })
}

/** Fails a refund to which its bank gives no final reply. */
export const failOpenRefund = (
  { reference, reason }: { reference: Reference; reason: string },
  author: Author,
  runtime: Runtime,
): Promise<Refund | Refusal> =>
  optimistically<Refund | Refusal>(`refund of ${reference}`, async () => {
    const refund = await findOpenRefund(reference, runtime.now())
    if (refund instanceof Refusal) return refund
    const { provider, uuid, status } = refund
    const recording = { ...author, target: reference, provider }
    const next = { refund: uuid, refund_status: 'failed', error_message: reason }
    const record = changeWrites(recording, { refund_status: status }, next)
    const failure = { failure: reason, by: `operator:${author.by}` }
    return recordRefundFailure(refund, failure, record, runtime)
  })
