import { exceptionStatuses } from '../domain/debits/exception.ts'
import {
  countRequests,
  isRequest,
  type RequestException,
  type RequestKind,
} from '../domain/debits/reversal-request.ts'
import type { Reference } from '../domain/ids.ts'
import { type Day, dayAfter, dayOf, type Month, spanOfMonth, startOf } from '../domain/time.ts'
import { type Runtime, timeLimit } from '../runtime.ts'
import { exceptionPages } from '../store/debits/exceptions.ts'

const requestsOf = async (day: Day): Promise<RequestException[]> => {
  const span = { from: startOf(day), before: startOf(dayAfter(day)) }
  // In sequence, by debit: a request that is decided during the read is in both lists.
  const requests = new Map<Reference, RequestException>()
  for (const status of exceptionStatuses) {
    for await (const page of exceptionPages(status, span)) {
      for (const one of page.filter(isRequest)) requests.set(one.reference, one)
    }
  }
  return [...requests.values()]
}

/** Half of the function's time. A day more is read within the other half. */
const SUMMARY_MS = 30_000

/** Counts the requests of a month, day by day until the time is up. The next call continues. */
export const summarizeRequests = async (month: Month, from: Day, { now, wallTime }: Runtime) => {
  const timeIsUp = timeLimit({ now: wallTime }, SUMMARY_MS)
  const end = dayOf(spanOfMonth(month).before)
  const requests: RequestException[] = []
  let day = from
  do {
    requests.push(...(await requestsOf(day)))
    day = dayAfter(day)
  } while (day < end && !timeIsUp())
  const countsOf = (kind: RequestKind) =>
    countRequests(
      requests.filter(({ request }) => request.kind === kind),
      now(),
    )
  const summary = { month, refund: countsOf('refund'), complaint: countsOf('complaint') }
  return { summary, next: day < end ? day : undefined }
}
