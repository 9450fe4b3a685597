import type { Random } from '../engine/random.ts'
import { DAY_MS, inGhs } from '../invariants/time-and-money.ts'
import { simulatedProviders } from './fixtures.ts'
import { HTTP_BANKS, type SettingChange } from './script.ts'

/** Changes of a provider's account, fees, daily limit and request limit. */

const accountChange = (provider: string, random: Random) => ({
  noun: 'provider' as const,
  verb: 'update',
  options: {
    provider,
    'settlement-bank': random.pick(HTTP_BANKS),
    'settlement-account': String(2_000_000_000 + random.below(900_000_000)),
    'settlement-name': `${provider} ${random.below(100)}`,
  },
})

/** Names every part, so that the schedule follows from one call. */
const feeChange = (provider: string, random: Random) => {
  const minimum = random.below(200)
  return {
    noun: 'provider' as const,
    verb: 'update',
    options: {
      provider,
      'fee-basis-points': String(random.pick([0, 50, 125, 150, 333])),
      'fee-fixed': inGhs(random.below(60)),
      'fee-minimum': random.happens(0.5) ? inGhs(minimum) : 'none',
      'fee-maximum': random.happens(0.5) ? inGhs(minimum + random.below(900)) : 'none',
    },
  }
}

const limitChange = (provider: string, dailyLimit: string) => ({
  noun: 'limit' as const,
  verb: 'set',
  options: { provider, 'daily-limit': dailyLimit },
})

const requestLimitChange = (provider: string, random: Random) => ({
  noun: 'limit' as const,
  verb: 'set',
  options: { provider, operation: 'charge', 'per-minute': String(5 + random.below(40)) },
})

export const drawSettingChange = (
  random: Random,
  { from, until }: { from: number; until: number },
): SettingChange => {
  const { id, dailyLimit } = random.pick(simulatedProviders)
  const time = random.between(from, until)
  // Payouts start at midnight; a repeat must keep the account.
  const at = random.happens(0.5) ? time : time - (time % DAY_MS) + random.between(0, 900_000)
  switch (random.below(5)) {
    case 0:
    case 1:
      return { at, ...accountChange(id, random) }
    case 2:
      return { at, ...feeChange(id, random) }
    case 3:
      // A provider without a limit has no counter.
      if (dailyLimit !== undefined) {
        return { at, ...limitChange(id, inGhs(50_000 + random.below(500_000))) }
      }
  }
  return { at, ...requestLimitChange(id, random) }
}
