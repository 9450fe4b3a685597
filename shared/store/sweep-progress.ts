import type { ProviderId } from '../domain/providers/provider.ts'
import { keys } from './keys.ts'
import * as db from './table.ts'

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

type StoredProgress = { until: string; behind?: Record<string, string> }

export const findSweepProgress = (): Promise<SweepProgress | undefined> =>
  db.find(keys.sweep, (item) => {
    const { until, behind = {} } = db.withoutKeys<StoredProgress>(item)
    const times = Object.entries(behind).map(
      ([id, at]) => [id as ProviderId, new Date(at)] as const,
    )
    return { until: new Date(until), behind: new Map(times) }
  })

export const putSweepProgress = ({ until, behind }: SweepProgress): Promise<void> => {
  const times = [...behind].map(([id, at]) => [id, at.toISOString()])
  return db.put(keys.sweep, 'sweep', {
    until: until.toISOString(),
    ...(times.length > 0 && { behind: Object.fromEntries(times) }),
  })
}
