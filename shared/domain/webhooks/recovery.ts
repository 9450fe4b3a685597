import type { ProviderId } from '../providers/provider.ts'
import { DAY_SECONDS, secondsAfter } from '../time.ts'

/** A slow retry, page by page, of the events that a webhook did not receive (docs/api.md#recovery). */
export type Recovery = {
  provider: ProviderId
  id: string
  /** `asked` by the provider or an operator, or `automatic` when the webhook recovers. */
  kind: 'asked' | 'automatic'
  /** The span of the times of the events. */
  since: Date
  until: Date
  status: 'running' | 'done'
  /** The number of pages that are done, and the end of the last one. */
  page: number
  cursor: string | null
  count: number
  runAt: Date
}

export const RECOVERY_DAYS_MAX = 14
const AUTOMATIC_SECONDS = 3 * DAY_SECONDS

/** An index can show the last abandoned events late, and the clocks of their hosts can be ahead. */
const AUTOMATIC_DELAY_SECONDS = 60

/** The deliveries of a page, and the seconds over which their attempts are spread. */
export const RECOVERY_PAGE = 50
export const RECOVERY_PAGE_SECONDS = 10

type NewRecovery = { provider: ProviderId; id: string; now: Date }

export const requestedRecovery = (request: NewRecovery & { since: Date }): Recovery => {
  const { provider, id, now, since } = request
  const begun = { status: 'running', page: 0, cursor: null, count: 0 } as const
  return { provider, id, kind: 'asked', since, until: now, runAt: now, ...begun }
}

/** Returns the automatic recovery of the events of the last 72 hours, which begins a minute later. */
export const automaticRecovery = (request: NewRecovery): Recovery => {
  const at = secondsAfter(request.now, AUTOMATIC_DELAY_SECONDS)
  const since = secondsAfter(request.now, -AUTOMATIC_SECONDS)
  return { ...requestedRecovery({ ...request, since }), kind: 'automatic', until: at, runAt: at }
}

export const dueInPage = (runAt: Date, index: number): Date =>
  new Date(runAt.getTime() + Math.floor((index * RECOVERY_PAGE_SECONDS * 1000) / RECOVERY_PAGE))

export const afterPage = (
  recovery: Recovery,
  page: { cursor: string | null; retried: number; isLast: boolean },
  at: Date,
): Recovery => ({
  ...recovery,
  page: recovery.page + 1,
  cursor: page.cursor ?? recovery.cursor,
  count: recovery.count + page.retried,
  status: page.isLast ? 'done' : 'running',
  runAt: secondsAfter(at, RECOVERY_PAGE_SECONDS),
})
