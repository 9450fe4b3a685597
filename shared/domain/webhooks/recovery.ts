import type { ProviderId } from '../providers/provider.ts'
import { DAY_SECONDS, secondsAfter } from '../time.ts'

/** A slow retry, page by page, of the events that a webhook did not receive (docs/api.md#recovery). */
export type Recovery = {
  provider: ProviderId
  id: string
  /** `asked` by an operator, or `automatic` when the webhook recovers. */
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
const REPEAT_SECONDS = 60

/** The deliveries of a page, and the seconds over which their attempts are spread. */
export const RECOVERY_PAGE = 50
export const RECOVERY_PAGE_SECONDS = 10

type NewRecovery = { provider: ProviderId; id: string; now: Date }

export const requestedRecovery = (request: NewRecovery & { since: Date }): Recovery => {
  const { provider, id, now, since } = request
  const begun = { status: 'running', page: 0, cursor: null, count: 0 } as const
  return { provider, id, kind: 'asked', since, until: now, runAt: now, ...begun }
}

/** Returns the automatic recovery of the events of the last 72 hours, and its repeat for those that were not listed. */
export const automaticRecoveries = ({ provider, id, now }: NewRecovery): [Recovery, Recovery] => {
  const since = secondsAfter(now, -AUTOMATIC_SECONDS)
  const recovery = {
    ...requestedRecovery({ provider, id, now, since }),
    kind: 'automatic',
  } as const
  const at = secondsAfter(now, REPEAT_SECONDS)
  return [recovery, { ...recovery, id: `${id}-repeat`, until: at, runAt: at }]
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
