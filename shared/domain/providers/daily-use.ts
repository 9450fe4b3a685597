/** What a stolen key, or a provider that tries numbers, does more often than before. */
export type KeyUse = 'charges' | 'invalidAccounts' | 'unknownNumbers'

/** The counts of one UTC day. Only providers with a daily limit have charges and invalid accounts. */
export type DailyUse = Partial<Record<KeyUse, number>>

/** Fewer on one day are never unusual: a new provider has no earlier days. */
const LEAST: Record<KeyUse, number> = { charges: 500, invalidAccounts: 20, unknownNumbers: 50 }

/** Weekdays, paydays and growth stay below this multiple of the busiest day. */
const MULTIPLE = 3

/** The earlier days that a day is compared with. */
export const COMPARED_DAYS = 28

export type UnusualUse = { use: KeyUse; count: number; busiest: number }

/** Returns the uses of a day that are far above those of each earlier day. */
export const unusualUses = (today: DailyUse, earlier: readonly DailyUse[]): UnusualUse[] =>
  (Object.keys(LEAST) as KeyUse[]).flatMap((use) => {
    const count = today[use] ?? 0
    const busiest = Math.max(0, ...earlier.map((day) => day[use] ?? 0))
    return count >= LEAST[use] && count > MULTIPLE * busiest ? [{ use, count, busiest }] : []
  })
