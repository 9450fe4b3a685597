import { type CheckedRun, checkScenario } from './check.ts'
import type { Scenario } from './scenario/scenario.ts'
import { print, violationLine } from './terminal.ts'

/** Runs one scenario again and prints its violations, with its trace if requested. */
export const replay = async (scenario: Scenario, isTraced: boolean): Promise<CheckedRun> => {
  const run = await checkScenario(scenario, isTraced ? print : undefined)
  for (const violation of run.violations) print(violationLine(violation))
  return run
}
