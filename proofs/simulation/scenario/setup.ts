import { skewOf } from '../engine/invocations.ts'
import type { RunSetup } from '../engine/observations.ts'
import { sizeIn } from '../engine/sizes.ts'
import * as fixtures from './fixtures.ts'
import { settingsOf } from './kinds.ts'
import type { Scenario } from './scenario.ts'
import { bankNames, HTTP_BANKS } from './script.ts'

/** The facts of a scenario that the invariants know. */

/** Undefined for the usual sizes. */
export const seedOfSizes = ({ kind, seed }: Scenario): number | undefined =>
  settingsOf(kind).hasSmallSizes ? seed : undefined

// A stalled worker or a slow sweep stops its query. A connector whose secret does not open is not queried.
const STOPPED = ['stalled worker', 'slow sweep', 'key store outage', 'sealing key missing'] as const

// With these, a run of the sweep can pass debits that it does not see.
const UNSWEPT = ['index far behind', 'clock far off'] as const

/** At the end operators repair each day, as the runbook tells them to. */
export const needsRepair = ({ faults }: Scenario): boolean =>
  UNSWEPT.some((name) => faults.has(name))

export const setupOf = (scenario: Scenario): RunSetup => {
  const { startAt, healAt, endAt, faults, crashes, losses, cacheSeconds, restore } = scenario
  const skew = skewOf(faults)
  const unwanted = 'shared/domain/providers/daily-use UNWANTED_LEAST'
  return {
    ...scenario,
    startedAt: startAt,
    healedAt: healAt,
    endedAt: endAt,
    isHealthy: faults.size === 0 && crashes.length === 0 && !losses,
    hasSmallSizes: seedOfSizes(scenario) !== undefined,
    isQueried: !STOPPED.some((name) => faults.has(name)),
    skew,
    staleMs: Math.max(0, cacheSeconds) * 1000 + 2 * skew,
    unwantedPromptsLeast: sizeIn(seedOfSizes(scenario), unwanted, 20),
    isRestored: restore !== undefined,
    isRepaired: needsRepair(scenario),
    providers: fixtures.simulatedProviders,
    banks: bankNames,
    customerAccounts: fixtures.customerAccounts,
    endpoints: HTTP_BANKS,
    connections: fixtures.connections,
    absent: fixtures.absentIn(scenario),
  }
}
