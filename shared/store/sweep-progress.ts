import type { ProviderId } from '../domain/providers/provider.ts'
import { keys } from './keys.ts'
import { type Item, put, read, withoutKeys } from './table.ts'

/** The progress of the sweep through completed debits. */
export type SweepProgress = {
  /** The sweep has checked everything that completed before. */
  until: Date
  /** The provider at which the next run continues a run that hit its time limit. */
  next?: ProviderId
  /** The end of the span of that run. */
  end?: Date
}

/** The index may lag and clocks differ, so each span overlaps the previous one. */
const OVERLAP_MS = 60_000

/** Returns the time before which the sweep has checked every completed debit. */
export const sweptBefore = ({ until }: SweepProgress): Date =>
  new Date(until.getTime() - OVERLAP_MS)

export const findSweepProgress = async (): Promise<SweepProgress | undefined> => {
  const item = await read<Item>(keys.sweep)
  if (!item) return undefined
  const progress = withoutKeys<{ until: string; end?: string; next?: ProviderId }>(item)
  const { until, end, ...rest } = progress
  return { ...rest, until: new Date(until), ...(end && { end: new Date(end) }) }
}

export const putSweepProgress = ({ until, end, ...rest }: SweepProgress): Promise<void> =>
  put(keys.sweep, 'sweep', { ...rest, until: until.toISOString(), end: end?.toISOString() })
