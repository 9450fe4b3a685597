import type { FaultName } from './engine/faults.ts'
import type { Violation } from './engine/observations.ts'
import { violationsOf } from './invariants/all.ts'
import { runWorld } from './run.ts'
import type { Scenario } from './scenario/scenario.ts'

/** One world, lived through and held against what must hold. */

export type Trial = {
  seed: number
  lifecycles: number
  /** Debits that came into being. */
  debits: number
  steps: number
  digest: string
  violations: Violation[]
  hits: [FaultName, number][]
  effects: readonly string[]
}

export const checkScenario = async (
  scenario: Scenario,
  print?: (line: string) => void,
): Promise<Trial> => {
  const { observations, steps, digest, hits, effects } = await runWorld(scenario, print)
  return {
    seed: scenario.seed,
    lifecycles: scenario.scripts.length,
    debits: observations.items.filter(({ entity }) => entity === 'debit').length,
    steps,
    digest,
    violations: violationsOf(observations),
    hits: [...hits],
    effects,
  }
}
