import { drawPlan, type Plan } from './scenario/scenario.ts'
import { complaintLine } from './terminal.ts'
import { tryPlan } from './trial.ts'

/** The smallest plan found that still goes wrong: fewer debits, fewer faults. */

/** A plan is named by its seed and by what is left of it. */
export type Cut = { lives?: readonly number[]; without?: readonly string[] }

export const cutPlan = (plan: Plan, { lives, without = [] }: Cut): Plan => ({
  ...plan,
  lives: lives ? plan.lives.filter(({ n }) => lives.includes(n)) : plan.lives,
  faults: new Set([...plan.faults].filter((name) => !without.includes(name))),
})

const TRIES_MAX = 150

/** @returns what is left; undefined when nothing is wrong with the whole plan */
export const shrink = async (
  seed: number,
  lifecycles: number,
): Promise<Required<Cut> | undefined> => {
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
  if (!(await goesWrong({}))) return undefined
  let lives: readonly number[] = plan.lives.map(({ n }) => n)
  let without: readonly string[] = []
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

const REFERENCE = /[A-Z]{3}-\d{8}-[A-Z0-9]{6}/g
const LINES_MAX = 400

/** What happened in a world that is cut down, to those whom its complaints are about. */
export const traceOf = async (seed: number, lifecycles: number, cut: Cut): Promise<string[]> => {
  const lines: string[] = []
  const plan = cutPlan(drawPlan(seed, lifecycles), cut)
  const { complaints } = await tryPlan(plan, (line) => lines.push(line))
  const named = complaints.flatMap(({ about, says }) => `${about} ${says}`.match(REFERENCE) ?? [])
  const told = lines.filter((line) => named.length === 0 || named.some((one) => line.includes(one)))
  return [...told.slice(-LINES_MAX), ...complaints.map(complaintLine)]
}
