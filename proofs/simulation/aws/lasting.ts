import type { SteppedClock } from '../../../sandbox/aws/clock.ts'
import { type FaultName, type Faults, randomOfFault, faults as rows } from '../engine/faults.ts'
import { MINUTE_MS, midnightAfter } from '../invariants/time-and-money.ts'
import { simulatedProviders } from '../scenario/fixtures.ts'
import type { Scenario } from '../scenario/scenario.ts'

/** Faults that last for a period, which a random stream of their own decides. */

type Deps = { clock: SteppedClock; faults: Faults; scenario: Scenario }

export type Period = ReturnType<ReturnType<typeof newPeriods>>

export const newPeriods =
  ({ clock, faults, scenario: { seed, scripts, kind, healAt } }: Deps) =>
  (name: FaultName) => {
    const random = randomOfFault(seed, name, 1)
    const { at } = random.pick(scripts)
    const isAtMidnight = kind === 'outage at midnight' && name.endsWith('outage')
    const [least, most] = rows[name].minutes
    const from =
      (isAtMidnight ? midnightAfter(at) : at) + random.between(-5 * MINUTE_MS, 5 * MINUTE_MS)
    const minutes = random.between(least, isAtMidnight ? 40 : most)
    const until = Math.min(from + minutes * MINUTE_MS, healAt)
    const isOn = (): boolean => from <= clock.now() && clock.now() < until && faults.has(name)
    const strikes = (about?: string): boolean => {
      if (!isOn()) return false
      faults.hit(name, about)
      return true
    }
    /** Returns the time until its end; 0 if it does not strike. */
    const rest = (about: string): number => (strikes(about) ? until - clock.now() : 0)
    return { random, isOn, strikes, rest }
  }

const SWEEP_SHARDS = 2
const HOT = [
  'PROVIDER#ID',
  'FEED#ID',
  'WEBHOOK#ID',
  'SETTLE#ID#[0-3]',
  'ID#good',
  'WATCH#N',
  'DEBIT#.*Z',
]

/** Returns the pattern of a key of the table or of an index, or of a part of the debits. */
const drawHotKey = ({ random }: Period): RegExp => {
  const key = random
    .pick(HOT)
    .replace('ID', random.pick(simulatedProviders).id)
    .replace('N', String(random.below(SWEEP_SHARDS)))
    .replace('.*Z', `[\\w-]*${random.pick(['[0-8]', '[9A-H]', '[I-Q]', '[R-Z]'])}`)
  return new RegExp(`"${key}"`)
}

/** Returns whether a call of the table is rejected: all are, or those of one key. */
export const tableOutage = (period: ReturnType<typeof newPeriods>) => {
  const [outage, heat] = [period('table outage'), period('hot key')]
  const hotKey = drawHotKey(heat)
  return (input: object): boolean =>
    outage.strikes() || (heat.isOn() && hotKey.test(JSON.stringify(input)) && heat.strikes())
}
