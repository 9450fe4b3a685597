import { checkScenario } from './check.ts'
import { drawScenario } from './scenario/scenario.ts'
import { type Cut, reduceScenario } from './shrink.ts'
import { print, violationLine } from './terminal.ts'

/** One world again, or what is left of it. */

export type World = { seed: number; each: number }

/** @returns 1 when something is wrong in it */
export const replay = async (
  { seed, each }: World,
  { isTold, ...cut }: Cut & { isTold: boolean },
): Promise<number> => {
  const scenario = reduceScenario(drawScenario(seed, each), cut)
  const { digest, violations, steps } = await checkScenario(scenario, isTold ? print : undefined)
  for (const violation of violations) print(violationLine(violation))
  print(`seed ${seed}: ${scenario.scripts.length} debits, ${steps} steps, trace ${digest}`)
  return violations.length > 0 ? 1 : 0
}
