import type { ProviderId } from '../domain/providers/provider.ts'
import { DAY_SECONDS } from '../domain/time.ts'
import { mapConcurrent } from './concurrent.ts'
import { keys } from './keys.ts'
import * as db from './table.ts'
import { spread } from './work-index.ts'

/**
 * How far the sweep has come. It has checked every debit that was created, completed or reversed
 * before a time; the open ones among them are in the list `open`.
 */
export type SweepProgress = {
  until: Date
  /** Providers that the last run could not finish, with their own times. */
  behind: ReadonlyMap<ProviderId, Date>
}

/** Before the first run nothing has been checked. */
const BEGINNING = new Date(0)

/** Returns the time before which the sweep has checked a provider's debits. */
export const sweptBefore = (progress: SweepProgress | undefined, provider: ProviderId): Date =>
  progress?.behind.get(provider) ?? progress?.until ?? BEGINNING

/** Providers behind in one item: below 20 KB, also with the longest ids. */
const PAGE_MAX = 200
const PAGES_AT_ONCE = 10
/** The sweep starts at the oldest time if it has stood still for longer. */
const PAGE_DAYS = 7

type Times = Record<string, string>

/** `pages`: the times are in other items, and `until` is the oldest of all; `reached` is the latest. */
type StoredProgress = { until: string; behind?: Times; reached?: string; pages?: number }

const fromTimes = (times: Times) =>
  Object.entries(times).map(([id, at]) => [id as ProviderId, new Date(at)] as const)

const progressIn = ({ until, behind = {} }: StoredProgress): SweepProgress => ({
  until: new Date(until),
  behind: new Map(fromTimes(behind)),
})

/** Reads one item. If many providers are behind, all of them count as far behind as the last one. */
export const findSweepProgress = (): Promise<SweepProgress | undefined> =>
  db.find(keys.sweep, (item) => progressIn(db.withoutKeys<StoredProgress>(item)))

const pageKeys = (reached: string, pages: number) =>
  Array.from({ length: pages }, (_, n) => keys.sweepPage(`${reached}#${pages}`, n))

/** Reads the exact times of all providers, for the sweep. */
export const loadSweepProgress = async (): Promise<SweepProgress | undefined> => {
  const stored = await db.read<StoredProgress>(keys.sweep)
  if (!stored?.reached || !stored.pages) return stored && progressIn(stored)
  const keysOfPages = pageKeys(stored.reached, stored.pages)
  const pages = await mapConcurrent(keysOfPages, PAGES_AT_ONCE, db.read<{ behind: Times }>)
  if (pages.includes(undefined)) return progressIn(stored)
  const behind = pages.flatMap((page) => fromTimes(page?.behind ?? {}))
  return { until: new Date(stored.reached), behind: new Map(behind) }
}

export const putSweepProgress = async ({ until, behind }: SweepProgress): Promise<void> => {
  const times = [...behind].map(([id, at]) => [id, at.toISOString()] as const)
  const reached = until.toISOString()
  if (times.length <= PAGE_MAX) {
    const own = times.length > 0 && { behind: Object.fromEntries(times) }
    return db.put(keys.sweep, 'sweep', { until: reached, ...own })
  }
  // By provider, so that the pages of two runs at the same time agree about each of them.
  const pages = pageKeys(reached, Math.ceil(times.length / PAGE_MAX))
  const byPage = Map.groupBy(times, ([id]) => spread(id, pages.length))
  await mapConcurrent([...pages.entries()], PAGES_AT_ONCE, ([n, key]) =>
    db.put(key, 'sweep', {
      behind: Object.fromEntries(byPage.get(n) ?? []),
      expiresAt: db.expiresAt(until, PAGE_DAYS * DAY_SECONDS),
    }),
  )
  const oldest = times.map(([, at]) => at).sort()[0]
  await db.put(keys.sweep, 'sweep', { until: oldest, reached, pages: pages.length })
}
