import { checkScenario } from './check.ts'
import type { KindName } from './scenario/kinds.ts'
import { drawScenario, type Scenario } from './scenario/scenario.ts'
import { violationLine } from './terminal.ts'

/** The scripts that a reduced scenario keeps and the faults that it omits. */
type Reduction = { scripts?: readonly number[]; without?: readonly string[] }

export const reduceScenario = (
  scenario: Scenario,
  { scripts, without = [] }: Reduction,
): Scenario => ({
  ...scenario,
  scripts: scripts
    ? scenario.scripts.filter(({ number }) => scripts.includes(number))
    : scenario.scripts,
  faults: new Set([...scenario.faults].filter((name) => !without.includes(name))),
})

/** The run of a seed, with `each` debits. */
export type Replayed = { seed: number; each: number; kind: KindName | undefined }

const TRIES_MAX = 150

/** Returns the smallest failing reduction found; undefined if the whole scenario passes. */
export const shrink = async ({
  seed,
  each,
  kind,
}: Replayed): Promise<Required<Reduction> | undefined> => {
  const scenario = drawScenario(seed, each, kind)
  let tries = 0
  const fails = async (reduction: Reduction): Promise<boolean> => {
    tries += 1
    try {
      return (await checkScenario(reduceScenario(scenario, reduction))).violations.length > 0
    } catch {
      return true
    }
  }
  if (!(await fails({}))) return undefined
  let scripts: readonly number[] = scenario.scripts.map(({ number }) => number)
  let without: readonly string[] = []
  for (
    let size = Math.ceil(scripts.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < scripts.length && tries < TRIES_MAX; ) {
      const fewer = scripts.toSpliced(from, size)
      if (fewer.length > 0 && (await fails({ scripts: fewer, without }))) scripts = fewer
      else from += size
    }
  }
  for (const name of scenario.faults) {
    const more = [...without, name]
    if (tries < TRIES_MAX && (await fails({ scripts, without: more }))) without = more
  }
  return { scripts, without }
}

const REFERENCE = /[A-Z]{3}-\d{8}-[A-Z0-9]{6}/g
const LINES_MAX = 400

/** Returns the trace of a reduced run, limited to the references in its violations. */
export const traceOf = async (
  { seed, each, kind }: Replayed,
  reduction: Reduction,
): Promise<string[]> => {
  const trace: string[] = []
  const scenario = reduceScenario(drawScenario(seed, each, kind), reduction)
  const { violations } = await checkScenario(scenario, (line) => trace.push(line))
  const references = violations.flatMap(
    (violation) => violationLine(violation).match(REFERENCE) ?? [],
  )
  const lines =
    references.length === 0
      ? trace
      : trace.filter((line) => references.some((reference) => line.includes(reference)))
  return [...lines.slice(-LINES_MAX), ...violations.map(violationLine)]
}
