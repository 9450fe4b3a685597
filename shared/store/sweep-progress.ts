import type { ProviderId } from '../domain/providers/provider.ts'
import { keys } from './keys.ts'
import { put, read, withoutKeys } from './table.ts'

/** How far the sweep has looked through what was completed. */
export type SweepProgress = {
  /** All that was completed before was looked at. */
  until: Date
  /** The provider at which a run that ran out of time is to be taken up. */
  next?: ProviderId
  /** Until when that run was to look. */
  end?: Date
}

/** The index may be late, and clocks differ: each span of the sweep overlaps the one before. */
const OVERLAP_MS = 60_000

/** Returns the time before which the sweep has looked at every completed debit. */
export const sweptBefore = ({ until }: SweepProgress): Date =>
  new Date(until.getTime() - OVERLAP_MS)

export const findSweepProgress = async (): Promise<SweepProgress | undefined> => {
  const item = await read<Record<string, unknown>>(keys.sweep)
  if (!item) return undefined
  const { until, end, ...rest } = withoutKeys<{ until: string; end?: string; next?: ProviderId }>(
    item,
  )
  return { ...rest, until: new Date(until), ...(end ? { end: new Date(end) } : {}) }
}

export const putSweepProgress = ({ until, end, ...rest }: SweepProgress): Promise<void> =>
  put(keys.sweep, 'sweep', {
    ...rest,
    until: until.toISOString(),
    ...(end ? { end: end.toISOString() } : {}),
  })
