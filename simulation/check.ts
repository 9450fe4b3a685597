import type { FaultName } from './engine/faults.ts'
import type { Violation } from './engine/observations.ts'
import { violationsOf } from './invariants/all.ts'
import { countRareEvents, type RareEvent } from './rare-events.ts'
import { runWorld } from './run.ts'
import type { KindName } from './scenario/kinds.ts'
import type { Scenario } from './scenario/scenario.ts'

/** One run, checked against the invariants. */
export type CheckedRun = {
  seed: number
  scripts: number
  /** Debits that the service created. */
  debits: number
  steps: number
  digest: string
  violations: Violation[]
  hits: [FaultName, number][]
  effects: readonly string[]
  kind: KindName
  events: [RareEvent, number][]
}

/** @param print receives the trace, line by line */
export const checkScenario = async (
  scenario: Scenario,
  print?: (line: string) => void,
): Promise<CheckedRun> => {
  const { observations, steps, digest, hits, effects } = await runWorld(scenario, print)
  return {
    seed: scenario.seed,
    scripts: scenario.scripts.length,
    debits: observations.items.filter(({ entity }) => entity === 'debit').length,
    steps,
    digest,
    violations: violationsOf(observations),
    hits: [...hits],
    effects,
    kind: scenario.kind,
    events: countRareEvents(observations),
  }
}
