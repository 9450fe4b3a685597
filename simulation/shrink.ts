import { checkScenario } from './check.ts'
import { drawScenario, type Scenario } from './scenario/scenario.ts'
import { violationLine } from './terminal.ts'

/** The smallest scenario found that still goes wrong: fewer debits, fewer faults. */

/** A scenario is named by its seed and by what is left of it. */
export type Cut = { scripts?: readonly number[]; without?: readonly string[] }

export const reduceScenario = (scenario: Scenario, { scripts, without = [] }: Cut): Scenario => ({
  ...scenario,
  scripts: scripts ? scenario.scripts.filter(({ n }) => scripts.includes(n)) : scenario.scripts,
  faults: new Set([...scenario.faults].filter((name) => !without.includes(name))),
})

const TRIES_MAX = 150

/** @returns what is left; undefined when nothing is wrong with the whole scenario */
export const shrink = async (
  seed: number,
  lifecycles: number,
): Promise<Required<Cut> | undefined> => {
  const scenario = drawScenario(seed, lifecycles)
  let tries = 0
  const goesWrong = async (cut: Cut): Promise<boolean> => {
    tries += 1
    try {
      return (await checkScenario(reduceScenario(scenario, cut))).violations.length > 0
    } catch {
      return true
    }
  }
  if (!(await goesWrong({}))) return undefined
  let scripts: readonly number[] = scenario.scripts.map(({ n }) => n)
  let without: readonly string[] = []
  for (
    let size = Math.ceil(scripts.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < scripts.length && tries < TRIES_MAX; ) {
      const fewer = scripts.toSpliced(from, size)
      if (fewer.length > 0 && (await goesWrong({ scripts: fewer, without }))) scripts = fewer
      else from += size
    }
  }
  for (const name of scenario.faults) {
    const more = [...without, name]
    if (tries < TRIES_MAX && (await goesWrong({ scripts, without: more }))) without = more
  }
  return { scripts, without }
}

const REFERENCE = /[A-Z]{3}-\d{8}-[A-Z0-9]{6}/g
const LINES_MAX = 400

/** What happened in a world that is cut down, to those whom its violations are about. */
export const traceOf = async (seed: number, lifecycles: number, cut: Cut): Promise<string[]> => {
  const lines: string[] = []
  const scenario = reduceScenario(drawScenario(seed, lifecycles), cut)
  const { violations } = await checkScenario(scenario, (line) => lines.push(line))
  const named = violations.flatMap(({ about, says }) => `${about} ${says}`.match(REFERENCE) ?? [])
  const told = lines.filter((line) => named.length === 0 || named.some((one) => line.includes(one)))
  return [...told.slice(-LINES_MAX), ...violations.map(violationLine)]
}
