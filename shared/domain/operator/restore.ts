import type { ProviderId } from '../providers/provider.ts'

/**
 * A restore of the table to an earlier second (docs/api.md#restores). The generation counts restores,
 * from 1, so that new ids differ from lost ones.
 */

/** An event id has one digit for the generation (event.ts). */
export const GENERATION_MAX = 9

/** The days for which a restore can repeat erasures. No backup lives longer. */
export const ERASURE_DAYS = 400

export type Restore = {
  generation: number
  begunAt: Date
  /** The operator. */
  by: string
  /** The providers that an operator has released one by one. */
  released: readonly ProviderId[]
  /** When the last provider was released, or all together. */
  releasedAt: Date | null
}

/** Reports whether a restore holds timeouts, payouts and refunds of a provider. */
export const isHeldBy = (restore: Restore | undefined, provider: ProviderId): boolean =>
  restore !== undefined && restore.releasedAt === null && !restore.released.includes(provider)

/** Reports whether the restore may have held a provider within a time: the record has no time of a single release. */
export const mayHaveHeld = (restore: Restore | undefined, from: number, until: number): boolean =>
  restore !== undefined &&
  restore.begunAt.getTime() <= until &&
  (restore.releasedAt?.getTime() ?? until) >= from
