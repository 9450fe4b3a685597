import * as v from 'valibot'
import { firstWorkingDay, type Holidays } from '../banks/calendar.ts'
import { Refusal } from '../refusal.ts'
import { oneOf, text } from '../text.ts'
import { DAY_SECONDS, type Day, dayAfter, dayOf, secondsAfter } from '../time.ts'
import { type Cause, type Debit, refuseTransition, stateAt } from './debit.ts'
import { openException, type ReportException } from './exception.ts'
import { checkTransition } from './lifecycle.ts'

/** Requests of providers to reverse a completed debit (docs/api.md#reversal-requests): one per debit. */

export const RequestKind = oneOf(['refund', 'complaint'])
export type RequestKind = v.InferOutput<typeof RequestKind>

export const ReversalRequest = v.object(
  { reason: text({ max: 200, lines: true }), kind: v.nullish(RequestKind) },
  'is required',
)

const OPEN_DAYS = 30
/** Working days. */
export const RESPONSE_DAYS = 5

/** Returns the last day for a decision: the fifth working day after the request, for every bank. */
export const respondBy = (at: Date, holidays: Holidays): Day => {
  let day = dayOf(at)
  for (let n = 0; n < RESPONSE_DAYS; n += 1) day = firstWorkingDay(dayAfter(day), holidays)
  return day
}

/**
 * Marks a debit as requested. Returns the same object if it was already.
 * @returns 422/3001, 409/3006 or 400/1400 for a debit that cannot be requested
 */
export const requestReversal = (debit: Debit, cause: Cause): Debit | Refusal => {
  const transition = checkTransition(debit.status, 'reversed')
  if (transition === 'unchanged') return new Refusal(3006)
  if (transition === 'refused') return refuseTransition(debit.status, 'reversed')
  if (debit.reversalRequest) return debit
  const { completedAt, createdAt } = stateAt(debit)
  const last = secondsAfter(completedAt ?? createdAt, OPEN_DAYS * DAY_SECONDS)
  if (cause.at > last) {
    const until = last.toISOString()
    return new Refusal(1400, { details: `a reversal could be requested until ${until}` })
  }
  return { ...debit, version: debit.version + 1, reversalRequest: cause }
}

type Asked = { kind: RequestKind; reason: string; cause: Cause; holidays: Holidays }

/** The exception of a new request. */
export const openRequest = (
  { facts, status, erasedAt }: Debit,
  { kind, reason, cause, holidays }: Asked,
): RequestException => {
  const { reference, provider, bank, amount } = facts
  const { at, by, requestId } = cause
  const request = { kind, respondBy: respondBy(at, holidays) }
  const opened = {
    kind: 'reversal_request',
    ...{ reference, provider, bank: bank.identifier, amount, status },
    ...{ at, by, requestId, report: reason, request },
    ...{ code: undefined, details: undefined },
  } as const
  const exception = openException(opened, erasedAt)
  return { ...exception, request }
}

/** An exception that is a request of a provider. Its report is the reason. */
export type RequestException = ReportException & Required<Pick<ReportException, 'request'>>

export const isRequest = (exception: ReportException): exception is RequestException =>
  exception.request !== undefined

export const requestStatuses = ['open', 'accepted', 'declined'] as const

export const requestStatus = ({
  resolvedAt,
  isAccepted,
}: ReportException): (typeof requestStatuses)[number] => {
  if (resolvedAt === undefined) return 'open'
  return isAccepted ? 'accepted' : 'declined'
}

export const declined = ({ note = '' }: ReportException): Refusal =>
  new Refusal(1409, { details: { reversal_request: ['was declined'], note } })

/** Counts the requests of a kind. One is late that was not decided by its day. */
export const countRequests = (requests: readonly RequestException[], now: Date) => {
  const decidedOn = ({ resolvedAt }: RequestException) =>
    dayOf(resolvedAt ? new Date(resolvedAt) : now)
  const counted = (status: ReturnType<typeof requestStatus>): number =>
    requests.filter((request) => requestStatus(request) === status).length
  const isLate = (one: RequestException) => decidedOn(one) > one.request.respondBy
  return {
    opened: requests.length,
    open: counted('open'),
    accepted: counted('accepted'),
    declined: counted('declined'),
    in_time: requests.filter((one) => one.resolvedAt && !isLate(one)).length,
    late: requests.filter(isLate).length,
  }
}
