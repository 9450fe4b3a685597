import {
  COMPARED_DAYS,
  type DailyUse,
  unusualUses,
  unwantedPromptsIn,
} from '../domain/providers/daily-use.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { type Day, dayAfter, dayOf } from '../domain/time.ts'
import { log } from '../log.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { listDailyUse } from '../store/providers/daily-use.ts'
import { withFaults } from './repair.ts'

const PROVIDERS_AT_ONCE = 8

/** The sweep visits all providers each minute; the counts of a day need fewer visits. */
const CHECK_MS = 600_000

/** Reports whether a run is the first one in its ten minutes. */
export const isUseDue = (previous: Date | undefined, now: Date): boolean =>
  Math.floor((previous?.getTime() ?? 0) / CHECK_MS) < Math.floor(now.getTime() / CHECK_MS)

/** Debits that were charged before midnight end within it, and count for their day. */
const LATE_MS = 1_200_000

/**
 * Logs the providers whose use of a day is unusual or whose prompts are unwanted, and raises an alarm. Checks
 * today, and each day on which something was counted since the previous check.
 */
export const checkDailyUse = async (
  providers: readonly ProviderId[],
  { previous, now }: { previous: Date | undefined; now: Date },
): Promise<void> => {
  const today = dayOf(now)
  const first = previous ? dayOf(new Date(previous.getTime() - LATE_MS)) : today
  await mapConcurrent(providers, PROVIDERS_AT_ONCE, (provider) =>
    withFaults(provider, async () => {
      const uses = await listDailyUse(provider, dayAfter(first, -COMPARED_DAYS))
      for (let day = first; day <= today; day = dayAfter(day)) checkDay(provider, day, uses)
    }),
  )
}

const checkDay = (provider: ProviderId, date: Day, uses: ReadonlyMap<Day, DailyUse>): void => {
  const current = uses.get(date) ?? {}
  const from = dayAfter(date, -COMPARED_DAYS)
  const earlier = [...uses].filter(([day]) => from <= day && day < date).map(([, use]) => use)
  const remedy =
    `ask the provider; then revoke its key (operator credential list --provider ${provider}) or ` +
    `run operator provider disable --provider ${provider}`
  for (const unusual of unusualUses(current, earlier)) {
    log.warn('use is unusual', { provider, date, ...unusual, remedy }, { UnusualUse: 1 })
  }
  const unwanted = unwantedPromptsIn(current)
  if (unwanted)
    log.warn(
      'prompts are unwanted',
      { provider, date, ...unwanted, remedy },
      { UnwantedPrompts: 1 },
    )
}
