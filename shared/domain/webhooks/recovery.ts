import type { ProviderId } from '../providers/provider.ts'

/** The taking up again of what a provider's webhook did not receive, page by page and slowly. */
export type Recovery = {
  provider: ProviderId
  id: string
  /** Why: somebody asked for it, or the webhook answers again. */
  kind: 'asked' | 'automatic'
  /** The span of the events' own times. */
  since: Date
  until: Date
  status: 'running' | 'done'
  /** How many pages are done, and where the last one ended. */
  page: number
  cursor: string | null
  /** Deliveries that were taken up. */
  count: number
  /** When the next page is due. */
  runAt: Date
}

/** As far back as the published retries are long past and what was missed is still of use. */
export const RECOVERY_DAYS_MAX = 14
const AUTOMATIC_HOURS = 72

/** Deliveries taken up together, and the seconds over which their attempts are spread. */
export const RECOVERY_PAGE = 50
export const RECOVERY_PAGE_SECONDS = 10

const MS = 1000

type Opening = { provider: ProviderId; id: string; now: Date }

const opened = ({ provider, id, now }: Opening) => ({
  provider,
  id,
  until: now,
  status: 'running' as const,
  page: 0,
  cursor: null,
  count: 0,
  runAt: now,
})

/** Everything not received since a time, on somebody's word. */
export const requestedRecovery = (opening: Opening & { since: Date }): Recovery => ({
  ...opened(opening),
  kind: 'asked',
  since: opening.since,
})

/** What was abandoned in the last 72 hours, as the webhook answers again. */
export const automaticRecovery = (opening: Opening): Recovery => ({
  ...opened(opening),
  kind: 'automatic',
  since: new Date(opening.now.getTime() - AUTOMATIC_HOURS * 3600 * MS),
})

/** When the attempt of the delivery at a place of a page is due. */
export const dueInPage = (runAt: Date, place: number): Date =>
  new Date(runAt.getTime() + Math.floor((place * RECOVERY_PAGE_SECONDS * MS) / RECOVERY_PAGE))

/** The recovery after one more page. */
export const afterPage = (
  recovery: Recovery,
  page: { cursor: string | null; taken: number; isLast: boolean },
  now: Date,
): Recovery => ({
  ...recovery,
  page: recovery.page + 1,
  cursor: page.cursor ?? recovery.cursor,
  count: recovery.count + page.taken,
  status: page.isLast ? 'done' : 'running',
  runAt: new Date(now.getTime() + RECOVERY_PAGE_SECONDS * MS),
})
