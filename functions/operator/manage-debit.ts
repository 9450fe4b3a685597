import { failureCode } from '../../shared/domain/debits/bank-update.ts'
import { advance, type Changes, type Debit, stateAt } from '../../shared/domain/debits/debit.ts'
import { isOpen, type Status } from '../../shared/domain/debits/lifecycle.ts'
import { type Refund, reversalRefund } from '../../shared/domain/debits/refund.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import { maskPhone } from '../../shared/domain/phone.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { eventTypes } from '../../shared/domain/webhooks/event-type.ts'
import { logUnreadable } from '../../shared/log.ts'
import { type Author, operatorHandler } from '../../shared/operator/handler.ts'
import { debit } from '../../shared/operator/nouns/debit.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { listDebits } from '../../shared/store/debits/debit-lists.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { findRefundOf, refundCreation } from '../../shared/store/debits/refunds.ts'
import { transitionWith } from '../../shared/store/debits/transitions.ts'
import { changeWrites, putChange } from '../../shared/store/operator/changes.ts'
import { currentGeneration } from '../../shared/store/operator/restores.ts'
import { findProvider } from '../../shared/store/providers/providers.ts'
import type { Write } from '../../shared/store/table.ts'
import { repairDay } from '../../shared/sweep/day.ts'
import { statusView } from '../../shared/views/debit.ts'

const view = (debit: Debit, refund: Refund | undefined) => {
  const state = stateAt(debit)
  // An operator sees no name, and the phone number masked.
  const { response: _response, customer: _customer, ...summary } = statusView(debit, refund)
  return {
    ...summary,
    provider: state.provider,
    bank: state.bank.identifier,
    phone_number: maskPhone(state.phone),
    error_code: state.errorCode,
    history: debit.history.map((entry, n) => ({
      n,
      event: eventTypes[entry.type].event,
      at: entry.at.toISOString(),
      by: entry.by,
      request_id: entry.requestId,
    })),
  }
}

const notPossible = ({ status }: Debit, to: Status) =>
  new Refusal(3001, { details: `cannot transition from ${status} to ${to}` })

/** Of the function's fifteen minutes, what a repair may use. */
const REPAIR_MS = 780_000

const unknown = () => new Refusal(3404, { details: 'no such debit' })

const listed = (debit: Debit) => {
  const {
    history: _history,
    metadata: _metadata,
    refund: _refund,
    ...summary
  } = view(debit, undefined)
  return summary
}

type Asked = {
  reference: Reference
  to: Status
  changes: Changes
  /** The fields of the operator's change, next to the status. */
  record: Record<string, string>
  /** The statuses that it takes, of those that the lifecycle allows or that are reached already. */
  from: (status: Status) => boolean
  alongside?: (after: Debit) => readonly Write[]
}

/** Moves a debit as an operator asks, and records the change in the same write. */
const moving =
  (runtime: Runtime) =>
  async ({ reference, to, changes, record, from, alongside = () => [] }: Asked, author: Author) => {
    const at = runtime.now()
    const [found, generation] = await Promise.all([findDebit(reference), currentGeneration(at)])
    if (!found) return unknown()
    const by = `operator:${author.by}`
    const cause = { at, by, requestId: runtime.newId(), generation }
    const recording = { ...author, target: reference, provider: found.facts.provider }
    const moved = await transitionWith(
      found,
      (now) => {
        const after = from(now.status) ? advance(now, { ...cause, to, changes }) : undefined
        return !after || after instanceof Refusal ? notPossible(now, to) : after
      },
      (before, after) => [
        ...alongside(after),
        ...changeWrites(recording, { status: before.status }, { status: after.status, ...record }),
      ],
      runtime,
    )
    return moved instanceof Refusal ? moved : view(moved, await findRefundOf(moved))
  }

export const manageDebit = (runtime: Runtime) => {
  const move = moving(runtime)
  return operatorHandler(
    debit,
    {
      show: async ({ reference }) => {
        const found = await findDebit(reference)
        return found ? view(found, await findRefundOf(found)) : unknown()
      },
      list: async ({ provider, status, limit }) => {
        if (!(await findProvider(provider)))
          return new Refusal(1404, { details: 'no such provider' })
        const { debits } = await listDebits(
          provider,
          { status },
          { slice: { skip: 0, limit } },
          logUnreadable('manage-debit'),
        )
        return debits.map(listed)
      },
      /** Reverses a completed debit and opens its refund. A debit that is reversed stays as it is. */
      reverse: ({ reference, reason }, author) => {
        const changes = { metadata: { reversal_reason: reason } }
        const record = { reversal_reason: reason }
        const alongside = (after: Debit) => [refundCreation(reversalRefund(after))]
        const asked = { reference, to: 'reversed', changes, record, alongside } as const
        return move({ ...asked, from: () => true }, author)
      },
      /** Records the outcome that a bank gave outside the API, as its report would. */
      complete: ({ reference, 'bank-reference': bankReference, reason }, author) => {
        const changes = { bankReference, metadata: { completion_reason: reason } }
        const record = { bank_reference: bankReference, completion_reason: reason }
        return move({ reference, to: 'completed', changes, record, from: isOpen }, author)
      },
      fail: ({ reference, 'bank-reference': bankReference, reason }, author) => {
        const changes = { bankReference, errorMessage: reason, errorCode: failureCode(reason) }
        const record = { bank_reference: bankReference, error_message: reason }
        return move({ reference, to: 'failed', changes, record, from: isOpen }, author)
      },
      /** Repeats what should have followed from the debits of a day and is missing. */
      repair: async ({ provider, date }, author) => {
        if (!(await findProvider(provider)))
          return new Refusal(1404, { details: 'no such provider' })
        await putChange({ ...author, target: provider, provider }, { date })
        const end = runtime.now().getTime() + REPAIR_MS
        const isOver = () => runtime.now().getTime() >= end
        const day = await repairDay(provider, date, runtime, isOver)
        const { lookedAt, repaired, unreadable, isDone } = day
        return { provider, date, looked_at: lookedAt, repaired, unreadable, is_done: isDone }
      },
    },
    runtime,
  )
}

export const handler = manageDebit(real)
