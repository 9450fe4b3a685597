import { REFERENCE_PREFIX } from '../aws/environment.ts'
import { skewOf } from '../engine/invocations.ts'
import type { Observations } from '../engine/observations.ts'
import { sizeIn } from '../engine/sizes.ts'
import * as fixtures from './fixtures.ts'
import { settingsOf } from './kinds.ts'
import type { Scenario } from './scenario.ts'
import { bankNames, HTTP_BANKS } from './script.ts'

/** The facts of a scenario that the invariants know. */

/** Undefined for the usual sizes. */
export const seedOfSizes = ({ kind, seed }: Scenario): number | undefined =>
  settingsOf(kind).hasSmallSizes ? seed : undefined

// A stalled worker stops its query. A connector whose secret does not open is not queried.
const UNQUERIED = ['stalled worker', 'key store outage', 'sealing key missing'] as const

export const setupOf = (scenario: Scenario): Observations['setup'] => ({
  seed: scenario.seed,
  referencePrefix: REFERENCE_PREFIX,
  startedAt: scenario.startAt,
  healedAt: scenario.healAt,
  endedAt: scenario.endAt,
  isHealthy: scenario.faults.size === 0 && scenario.crashes.length === 0 && !scenario.losses,
  isQueried: !UNQUERIED.some((name) => scenario.faults.has(name)),
  skew: skewOf(scenario.faults),
  staleMs: Math.max(0, scenario.cacheSeconds) * 1000 + 2 * skewOf(scenario.faults),
  approvals: scenario.approvals,
  otherRelease: scenario.otherRelease,
  waitsForFunding: scenario.waitsForFunding,
  openPromptsMax: scenario.openPromptsMax,
  unwantedPromptsLeast: sizeIn(
    seedOfSizes(scenario),
    'shared/domain/providers/daily-use UNWANTED_LEAST',
    20,
  ),
  lookups: scenario.lookups,
  workingBanks: scenario.workingBanks,
  isIdempotent: scenario.isIdempotent,
  isRestored: scenario.restore !== undefined,
  isRepaired: scenario.faults.has('index far behind'),
  providers: fixtures.simulatedProviders,
  banks: bankNames,
  customerAccounts: fixtures.customerAccounts,
  endpoints: HTTP_BANKS,
  connections: fixtures.connections,
  absent: fixtures.absentIn(scenario),
})
