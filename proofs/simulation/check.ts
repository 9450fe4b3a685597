import { violationsOf } from './invariants/all.ts'
import { countRareEvents } from './rare-events.ts'
import { runScenario } from './run.ts'
import type { Scenario } from './scenario/scenario.ts'
import { storyOf } from './story.ts'
import { print } from './terminal.ts'

export type CheckedRun = Awaited<ReturnType<typeof checkScenario>>

/**
 * Runs a scenario and checks it against the invariants.
 * @param print receives the trace, line by line
 */
export const checkScenario = async (scenario: Scenario, print?: (line: string) => void) => {
  const { observations, steps, digest, hits, effects } = await runScenario(scenario, print)
  const violations = violationsOf(observations)
  return {
    seed: scenario.seed,
    scripts: scenario.scripts.length,
    debits: observations.items.filter(({ entity }) => entity === 'debit').length,
    steps,
    digest,
    violations,
    hits: [...hits],
    effects,
    kind: scenario.kind,
    events: countRareEvents(observations),
    story: () => storyOf(scenario, observations, violations),
  }
}

/** Runs a scenario again and prints its violations in words, with its trace if requested. */
export const replay = async (scenario: Scenario, isTraced = false): Promise<CheckedRun> => {
  const run = await checkScenario(scenario, isTraced ? print : undefined)
  if (run.violations.length > 0) for (const line of run.story()) print(line)
  return run
}
