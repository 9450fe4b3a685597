/** What a stolen key, or a provider that tries numbers, does more often than before. */
type KeyUse = 'charges' | 'invalidAccounts' | 'unknownNumbers'

/** The counts of one UTC day. Only providers with a daily limit have those of charges and failures. */
export type DailyUse = Partial<Record<KeyUse | 'refusedPrompts' | 'unwantedPrompts', number>>

/** Fewer on one day are never unusual: a new provider has no earlier days. */
const LEAST: Record<KeyUse, number> = { charges: 500, invalidAccounts: 20, unknownNumbers: 50 }

/** Weekdays, paydays and growth stay below this multiple of the busiest day. */
const MULTIPLE = 3

/** The earlier days that a day is compared with. */
export const COMPARED_DAYS = 28

export type UnusualUse = { use: KeyUse; count: number; busiest: number }

/** Fewer prompts of one day are never too many. */
const UNWANTED_LEAST = 20

/** Returns the prompts of a day, if customers declined more than half of them or let them time out. */
export const unwantedPromptsIn = (
  today: DailyUse,
): { prompts: number; unwanted: number } | undefined => {
  const {
    charges = 0,
    invalidAccounts = 0,
    refusedPrompts = 0,
    unwantedPrompts: unwanted = 0,
  } = today
  const prompts = charges - invalidAccounts - refusedPrompts
  return unwanted >= UNWANTED_LEAST && 2 * unwanted > prompts ? { prompts, unwanted } : undefined
}

/** Returns the uses of a day that are far above those of each earlier day. */
export const unusualUses = (today: DailyUse, earlier: readonly DailyUse[]): UnusualUse[] =>
  (Object.keys(LEAST) as KeyUse[]).flatMap((use) => {
    const count = today[use] ?? 0
    const busiest = Math.max(0, ...earlier.map((day) => day[use] ?? 0))
    return count >= LEAST[use] && count > MULTIPLE * busiest ? [{ use, count, busiest }] : []
  })
