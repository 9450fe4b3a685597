import type { Death } from '../engine/effects.ts'
import { complaintLine, print } from '../terminal.ts'
import { tryPlan } from '../trial.ts'
import { planOf } from './shapes.ts'
import { shapeNamed } from './unit.ts'

/** One world of a shape again. @returns 1 when something is wrong in it */
export const retry = async (
  name: string,
  deaths: readonly Death[],
  isTold: boolean,
): Promise<number> => {
  const plan = { ...planOf(shapeNamed(name)), deaths }
  const { complaints, effects, digest } = await tryPlan(plan, isTold ? print : undefined)
  for (const [n, effect] of effects.entries()) print(`effect ${n + 1}: ${effect}`)
  for (const complaint of complaints) print(complaintLine(complaint))
  print(`${name}: trace ${digest}`)
  return complaints.length > 0 ? 1 : 0
}
