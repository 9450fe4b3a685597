import type * as v from 'valibot'
import { cursorFor, listHash, positionIn } from '../../shared/api/pagination.ts'
import { failureCode } from '../../shared/domain/banks/failure-code.ts'
import { defined } from '../../shared/domain/complete.ts'
import { advance, type Changes, type Debit } from '../../shared/domain/debits/debit.ts'
import { blocksRefund, contradicted } from '../../shared/domain/debits/exception.ts'
import { isOpen, type Status } from '../../shared/domain/debits/lifecycle.ts'
import { reversalRefund } from '../../shared/domain/debits/refund.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import { invalid, Refusal } from '../../shared/domain/refusal.ts'
import { dayAfter, startOf } from '../../shared/domain/time.ts'
import { logUnreadable } from '../../shared/log.ts'
import { type Author, ListPage, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { debit as noun } from '../../shared/operator/nouns/debits.ts'
import { type Runtime, real, timeLimit } from '../../shared/runtime.ts'
import { searchDebits } from '../../shared/store/debits/debit-search.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { findExceptions } from '../../shared/store/debits/exceptions.ts'
import { findRefundOf, refundCreation } from '../../shared/store/debits/refunds.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { changeWrites, putChange } from '../../shared/store/operator/changes.ts'
import { currentGeneration } from '../../shared/store/operator/restores.ts'
import { findProvider } from '../../shared/store/providers/providers.ts'
import type { Write } from '../../shared/store/table.ts'
import { repairDay } from '../../shared/sweep/day.ts'
import { repairBeforeReversal } from '../../shared/sweep/repair.ts'
import { debitSummaryView, operatorDebitView as view } from '../../shared/views/operator/debit.ts'

const notPossible = ({ status }: Debit, to: Status) =>
  new Refusal(3001, { details: `cannot transition from ${status} to ${to}` })

/** The part of the function's fifteen minutes that a repair or a search uses. */
const WORK_MS = 780_000

const noSuchDebit = () => new Refusal(3404, { details: 'no such debit' })

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

const transitionBy = async (
  { reference, to, changes, record, isAllowedFrom, alongside = () => [] }: TransitionRequest,
  author: Author,
  runtime: Runtime,
) => {
  const at = runtime.now()
  const [debit, generation] = await Promise.all([findDebit(reference), currentGeneration(at)])
  if (!debit) return noSuchDebit()
  const by = `operator:${author.by}`
  const cause = { at, by, requestId: runtime.newId(), generation }
  const recording = { ...author, target: reference, provider: debit.facts.provider }
  const result = await transition(
    debit,
    (current) => {
      const next = isAllowedFrom(current.status)
        ? advance(current, { ...cause, to, changes })
        : undefined
      return !next || next instanceof Refusal ? notPossible(current, to) : next
    },
    runtime,
    (previous, next) => [
      ...alongside(next),
      ...changeWrites(recording, { status: previous.status }, { status: next.status, ...record }),
    ],
  )
  return result instanceof Refusal ? result : view(result, await findRefundOf(result))
}

const refusalToReverse = async ({
  reference,
  refund,
}: v.InferOutput<typeof noun.verbs.reverse.options>): Promise<Refusal | undefined> => {
  const [debit, exceptions] = await Promise.all([findDebit(reference), findExceptions(reference)])
  if (!debit) return noSuchDebit()
  return !refund && exceptions.some(blocksRefund) ? contradicted() : undefined
}

export const manageDebit = operatorHandler(noun, {
  show: async ({ reference }) => {
    const debit = await findDebit(reference)
    return debit ? view(debit, await findRefundOf(debit)) : noSuchDebit()
  },
  list: async (
    { cursor, limit, from, to, 'bank-reference': bankReference, ...rest },
    _,
    runtime,
  ) => {
    const { provider } = rest
    if (provider && !(await findProvider(provider))) return noSuch('provider')
    if (from && to && to < from) return invalid({ to: ['must not be before --from'] })
    const filter = {
      ...rest,
      bankReference,
      from: from && startOf(from),
      to: to && startOf(dayAfter(to)),
    }
    const list = listHash('debit list', '', filter)
    const before = positionIn(list, cursor)
    if (before instanceof Refusal) return before
    const request = { before, limit, timeIsUp: timeLimit(runtime, WORK_MS) }
    const { debits, next } = await searchDebits(filter, request, logUnreadable('manage-debit'))
    return new ListPage(
      debits.map(debitSummaryView),
      next === null ? undefined : cursorFor(list, next),
    )
  },
  /** Reverses a completed debit and opens its refund. Leaves a reversed debit unchanged. */
  reverse: {
    run: async (options, author, runtime) => {
      const { reference, reason, refund } = options
      const refusal = await refusalToReverse(options)
      if (refusal) return refusal
      await repairBeforeReversal(reference, runtime.now())
      const record = { reversal_reason: reason, ...defined({ refund }) }
      const changes = { metadata: { reversal_reason: reason }, ...defined({ refund }) }
      const alongside = (next: Debit) => [refundCreation(reversalRefund(next))]
      const request = { reference, to: 'reversed', changes, record, alongside } as const
      return transitionBy({ ...request, isAllowedFrom: () => true }, author, runtime)
    },
    check: refusalToReverse,
  },
  /** Records an outcome that the bank reported outside the API, like its report. */
  complete: ({ reference, 'bank-reference': bankReference, reason }, author, runtime) => {
    const changes = { bankReference, metadata: { completion_reason: reason } }
    const record = { bank_reference: bankReference, completion_reason: reason }
    const request = { reference, to: 'completed', changes, record } as const
    return transitionBy({ ...request, isAllowedFrom: isOpen }, author, runtime)
  },
  fail: ({ reference, 'bank-reference': bankReference, reason }, author, runtime) => {
    const changes = { bankReference, errorMessage: reason, errorCode: failureCode(reason) }
    const record = { bank_reference: bankReference, error_message: reason }
    const request = { reference, to: 'failed', changes, record } as const
    return transitionBy({ ...request, isAllowedFrom: isOpen }, author, runtime)
  },
  repair: async ({ provider, date }, author, runtime) => {
    if (!(await findProvider(provider))) return noSuch('provider')
    await putChange({ ...author, target: provider, provider }, { date })
    const day = await repairDay(provider, date, runtime, timeLimit(runtime, WORK_MS))
    const { lookedAt, repaired, unreadable, isDone } = day
    return { provider, date, looked_at: lookedAt, repaired, unreadable, is_done: isDone }
  },
})

export const handler = manageDebit(real)
