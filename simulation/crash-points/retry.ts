import { checkScenario } from '../check.ts'
import type { Crash } from '../engine/effects.ts'
import { print, violationLine } from '../terminal.ts'
import { shapeNamed } from './run-shape.ts'
import { scenarioOf } from './shapes.ts'

/** One world of a shape again. @returns 1 when something is wrong in it */
export const retry = async (
  name: string,
  crashes: readonly Crash[],
  isTold: boolean,
): Promise<number> => {
  const scenario = { ...scenarioOf(shapeNamed(name)), crashes }
  const { violations, effects, digest } = await checkScenario(scenario, isTold ? print : undefined)
  for (const [n, effect] of effects.entries()) print(`effect ${n + 1}: ${effect}`)
  for (const violation of violations) print(violationLine(violation))
  print(`${name}: trace ${digest}`)
  return violations.length > 0 ? 1 : 0
}
