import { statusView } from '../../shared/api/debit-view.ts'
import { advance, type Debit, stateAt } from '../../shared/domain/debit.ts'
import { eventTypes } from '../../shared/domain/event-type.ts'
import { maskPhone } from '../../shared/domain/phone.ts'
import { type Refund, reversalRefund } from '../../shared/domain/refund.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { logUnreadable } from '../../shared/log.ts'
import { operatorHandler } from '../../shared/operator/handler.ts'
import { debit } from '../../shared/operator/nouns/debit.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { changeWrites, putChange } from '../../shared/store/changes.ts'
import { listDebits } from '../../shared/store/debit-lists.ts'
import { findDebit } from '../../shared/store/debits.ts'
import { moveDebit } from '../../shared/store/moves.ts'
import { findPartner } from '../../shared/store/partners.ts'
import { findRefundOf, refundCreation } from '../../shared/store/refunds.ts'
import { repairDay } from '../../shared/sweep/day.ts'

const view = (debit: Debit, refund: Refund | undefined) => {
  const state = stateAt(debit)
  // An operator sees no name, and the phone number masked.
  const { response: _response, customer: _customer, ...summary } = statusView(debit, refund)
  return {
    ...summary,
    provider: state.partner,
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

const notReversible = ({ status }: Debit) =>
  new Refusal(3001, { details: `cannot transition from ${status} to reversed` })

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

export const manageDebit = (runtime: Runtime) =>
  operatorHandler(
    debit,
    {
      show: async ({ reference }) => {
        const found = await findDebit(reference)
        return found ? view(found, await findRefundOf(found)) : unknown()
      },
      list: async ({ provider, status, limit }) => {
        if (!(await findPartner(provider)))
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
      reverse: async ({ reference, reason }, author) => {
        const found = await findDebit(reference)
        if (!found) return unknown()
        const by = `operator:${author.by}`
        const cause = { at: runtime.now(), by, requestId: runtime.newId() }
        const recording = { ...author, target: reference, provider: found.facts.partner }
        const reversed = await moveDebit(
          found,
          (now) => {
            const changes = { metadata: { reversal_reason: reason } }
            const after = advance(now, { ...cause, to: 'reversed', changes })
            return after instanceof Refusal ? notReversible(now) : after
          },
          runtime,
          (before, after) => [
            refundCreation(reversalRefund(after)),
            ...changeWrites(
              recording,
              { status: before.status },
              { status: after.status, reversal_reason: reason },
            ),
          ],
        )
        return reversed instanceof Refusal ? reversed : view(reversed, await findRefundOf(reversed))
      },
      /** Repeats what should have followed from the debits of a day and is missing. */
      repair: async ({ provider, date }, author) => {
        if (!(await findPartner(provider)))
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

export const handler = manageDebit(real)
