import { COMPARED_DAYS, unusualUses, unwantedPromptsIn } from '../domain/providers/daily-use.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { dayAfter, dayOf } from '../domain/time.ts'
import { log } from '../log.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { listDailyUse } from '../store/providers/daily-use.ts'
import { logFault } from './repair.ts'

const PROVIDERS_AT_ONCE = 8

/** The sweep visits all providers each minute; the counts of a day need fewer visits. */
const CHECK_MS = 600_000

/** Reports whether a run is the first one in its ten minutes. */
export const isUseDue = (previous: Date | undefined, now: Date): boolean =>
  Math.floor((previous?.getTime() ?? 0) / CHECK_MS) < Math.floor(now.getTime() / CHECK_MS)

/** Logs the providers whose use of today is unusual or whose prompts are unwanted, and raises an alarm. */
export const checkDailyUse = async (providers: readonly ProviderId[], now: Date): Promise<void> => {
  const today = dayOf(now)
  await mapConcurrent(providers, PROVIDERS_AT_ONCE, async (provider) => {
    try {
      const days = new Map(await listDailyUse(provider, dayAfter(today, -COMPARED_DAYS)))
      const { [today]: current = {}, ...earlier } = Object.fromEntries(days)
      const remedy =
        `ask the provider; then revoke its key (operator credential list --provider ${provider}) or ` +
        `run operator provider disable --provider ${provider}`
      for (const unusual of unusualUses(current, Object.values(earlier))) {
        log.warn('use is unusual', { provider, ...unusual, remedy }, { UnusualUse: 1 })
      }
      const unwanted = unwantedPromptsIn(current)
      if (unwanted)
        log.warn('prompts are unwanted', { provider, ...unwanted, remedy }, { UnwantedPrompts: 1 })
    } catch (error) {
      logFault(provider, error)
    }
  })
}
