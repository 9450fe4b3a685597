import type { ProviderId } from '../domain/providers/provider.ts'
import { keys } from './keys.ts'
import { fromStored, toStored } from './stored.ts'
import { find, put, withoutKeys } from './table.ts'

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
export const sweptBefore = ({ until }: SweepProgress) => new Date(until.getTime() - OVERLAP_MS)

export const findSweepProgress = (): Promise<SweepProgress | undefined> =>
  find(keys.sweep, (item) => fromStored<SweepProgress>(withoutKeys(item), ['until', 'end']))

export const putSweepProgress = (progress: SweepProgress): Promise<void> =>
  put(keys.sweep, 'sweep', toStored(progress))
