import { drawPlan } from './scenario/scenario.ts'
import { type Cut, cutPlan } from './shrink.ts'
import { complaintLine, print } from './terminal.ts'
import { tryPlan } from './trial.ts'

/** One world again, or what is left of it. */

export type World = { seed: number; each: number }

/** @returns 1 when something is wrong in it */
export const replay = async (
  { seed, each }: World,
  { isTold, ...cut }: Cut & { isTold: boolean },
): Promise<number> => {
  const plan = cutPlan(drawPlan(seed, each), cut)
  const { digest, complaints, steps } = await tryPlan(plan, isTold ? print : undefined)
  for (const complaint of complaints) print(complaintLine(complaint))
  print(`seed ${seed}: ${plan.lives.length} debits, ${steps} steps, trace ${digest}`)
  return complaints.length > 0 ? 1 : 0
}
