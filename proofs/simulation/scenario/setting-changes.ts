import type { Random } from '../engine/random.ts'
import { DAY_MS, inGhs } from '../invariants/time-and-money.ts'
import { simulatedProviders } from './fixtures.ts'
import { HTTP_BANKS, type SettingChange } from './script.ts'

const accountOf = (provider: string, random: Random) => ({
  provider,
  'settlement-bank': random.pick(HTTP_BANKS),
  'settlement-account': String(2_000_000_000 + random.below(900_000_000)),
  'settlement-name': `${provider} ${random.below(100)}`,
})

/** Names every part, so that the schedule follows from one call. */
const feesOf = (provider: string, random: Random) => {
  const minimum = random.below(200)
  return {
    provider,
    'fee-basis-points': String(random.pick([0, 50, 125, 150, 333])),
    'fee-fixed': inGhs(random.below(60)),
    'fee-minimum': random.happens(0.5) ? inGhs(minimum) : 'none',
    'fee-maximum': random.happens(0.5) ? inGhs(minimum + random.below(900)) : 'none',
  }
}

/** Draws a change of a provider's account, fees, daily limit or request limit. */
export const drawSettingChange = (
  random: Random,
  { from, until }: { from: number; until: number },
): SettingChange => {
  const { id: provider, dailyLimit } = random.pick(simulatedProviders)
  const time = random.between(from, until)
  // Payouts start at midnight; a repeat must keep the account.
  const at = random.happens(0.5) ? time : time - (time % DAY_MS) + random.between(0, 900_000)
  const kind = random.below(5)
  if (kind <= 1)
    return { at, noun: 'provider', verb: 'update', options: accountOf(provider, random) }
  if (kind === 2) return { at, noun: 'provider', verb: 'update', options: feesOf(provider, random) }
  // A provider without a limit has no counter.
  const options =
    kind === 3 && dailyLimit !== undefined
      ? { provider, 'daily-limit': inGhs(50_000 + random.below(500_000)) }
      : { provider, operation: 'charge', 'per-minute': String(5 + random.below(40)) }
  return { at, noun: 'limit', verb: 'set', options }
}
