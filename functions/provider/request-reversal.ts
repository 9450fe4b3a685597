import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import {
  declined,
  openRequest,
  requestReversal as request,
  requestStatus,
} from '../../shared/domain/debits/reversal-request.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { real } from '../../shared/runtime.ts'
import { findHolidays } from '../../shared/store/banks/calendar.ts'
import { findProviderDebit } from '../../shared/store/debits/debits.ts'
import {
  exceptionWrite,
  findRequest,
  restoreException,
} from '../../shared/store/debits/exceptions.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { requestedView } from '../../shared/views/reversal-request.ts'

/** Asks the operators to reverse a completed debit (docs/api.md#reversal-requests). */
export const requestReversal = endpoint(
  'request-reversal',
  async ({ path, caller, input, at, requestId }, runtime) => {
    const { id, reversals } = caller.provider
    if (reversals !== 'request') {
      return new Refusal(1403, { details: 'the operator has not enabled reversal requests' })
    }
    const debit = await findProviderDebit(id, path.reference)
    if (!debit) return notFound('request-reversal')
    const cause = { at, by: `provider:${id}`, requestId }
    const holidays = await findHolidays(dayOf(at))
    const asked = { kind: input.kind ?? 'refund', reason: input.reason, cause, holidays }
    const result = await transition(
      debit,
      (current) => request(current, cause),
      runtime,
      (_, next) => [exceptionWrite(openRequest(next, asked))],
    )
    if (result instanceof Refusal) return result
    let stored = await findRequest(result)
    if (!stored) {
      // A failover lost the request, but not its mark.
      const first = result.reversalRequest ?? cause
      await restoreException(openRequest(result, { ...asked, cause: first }))
      stored = await findRequest(result)
    }
    if (!stored) throw new Error(`The request of ${path.reference} is missing`)
    if (requestStatus(stored) === 'declined') return declined(stored)
    const isOurs = stored.requestId === requestId && stored.at.getTime() === at.getTime()
    return { data: requestedView(stored), headers: isOurs ? {} : { 'Idempotent-Replayed': 'true' } }
  },
)

export const handler = requestReversal(real)
