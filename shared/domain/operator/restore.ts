import type { ProviderId } from '../providers/provider.ts'

/**
 * A restore of the table to an earlier second. The generation counts the restores: ids that are
 * given after one differ from the ids of the lost time. Before any restore it is 1.
 */

/** An event id has one digit for it, and batches take the rest (event.ts). */
export const GENERATION_MAX = 9

export type Restore = {
  generation: number
  begunAt: Date
  /** The operator. */
  by: string
  /** The providers that an operator has released one by one. */
  released: readonly ProviderId[]
  /** When all providers were released. */
  releasedAt: Date | null
}

/**
 * Returns whether timeouts, payouts and refunds of a provider are held: from the restore until an
 * operator has compared the provider's debits with the banks.
 */
export const isHeldBy = (restore: Restore | undefined, provider: ProviderId): boolean =>
  restore !== undefined && restore.releasedAt === null && !restore.released.includes(provider)
