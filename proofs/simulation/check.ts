import { violationsOf } from './invariants/all.ts'
import { countRareEvents } from './rare-events.ts'
import { runScenario } from './run.ts'
import type { Scenario } from './scenario/scenario.ts'
import { print, violationLine } from './terminal.ts'

export type CheckedRun = Awaited<ReturnType<typeof checkScenario>>

/**
 * Runs a scenario and checks it against the invariants.
 * @param print receives the trace, line by line
 */
export const checkScenario = async (scenario: Scenario, print?: (line: string) => void) => {
  const { observations, steps, digest, hits, effects } = await runScenario(scenario, print)
  return {
    seed: scenario.seed,
    scripts: scenario.scripts.length,
    /** Debits that the service created. */
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

/** Runs a scenario again and prints its violations, with its trace if requested. */
export const replay = async (scenario: Scenario, isTraced: boolean): Promise<CheckedRun> => {
  const run = await checkScenario(scenario, isTraced ? print : undefined)
  for (const violation of run.violations) print(violationLine(violation))
  return run
}
