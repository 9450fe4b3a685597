import { tryPlan } from './trial.ts'
import { drawPlan, type Plan } from './world/plan.ts'

/** The smallest plan found that still goes wrong: fewer debits, fewer faults. */

/** A plan is named by its seed and by what is left of it. */
export type Cut = { lives?: readonly number[]; without?: readonly string[] }

export const cutPlan = (plan: Plan, { lives, without = [] }: Cut): Plan => ({
  ...plan,
  lives: lives ? plan.lives.filter(({ n }) => lives.includes(n)) : plan.lives,
  faults: new Set([...plan.faults].filter((name) => !without.includes(name))),
})

const TRIES_MAX = 150

/** @returns what is left, and how many worlds that took */
export const shrink = async (seed: number, lifecycles: number): Promise<Cut> => {
  const plan = drawPlan(seed, lifecycles)
  let tries = 0
  const goesWrong = async (cut: Cut): Promise<boolean> => {
    tries += 1
    try {
      return (await tryPlan(cutPlan(plan, cut))).complaints.length > 0
    } catch {
      return true
    }
  }
  let lives = plan.lives.map(({ n }) => n)
  let without: string[] = []
  for (
    let size = Math.ceil(lives.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < lives.length && tries < TRIES_MAX; ) {
      const fewer = lives.toSpliced(from, size)
      if (fewer.length > 0 && (await goesWrong({ lives: fewer, without }))) lives = fewer
      else from += size
    }
  }
  for (const name of plan.faults) {
    const more = [...without, name]
    if (tries < TRIES_MAX && (await goesWrong({ lives, without: more }))) without = more
  }
  return { lives, without }
}
