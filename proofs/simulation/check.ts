import { violationsOf } from './invariants/all.ts'
import { countRareEvents } from './rare-events.ts'
import { runScenario } from './run.ts'
import type { KindName } from './scenario/kinds.ts'
import { drawScenario, type Scenario } from './scenario/scenario.ts'
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

/** The scripts that a reduced scenario keeps and the faults that it omits. */
type Reduction = { scripts?: readonly number[]; without?: readonly string[] }

export const reduceScenario = (scenario: Scenario, { scripts, without = [] }: Reduction) => ({
  ...scenario,
  scripts: scripts
    ? scenario.scripts.filter(({ number }) => scripts.includes(number))
    : scenario.scripts,
  faults: new Set([...scenario.faults].filter((name) => !without.includes(name))),
})

export type Replayed = { seed: number; each: number; kind: KindName | undefined }

const TRIES_MAX = 150

/** Returns the smallest failing reduction found; undefined if the whole scenario passes. */
export const shrink = async ({ seed, each, kind }: Replayed): Promise<Reduction | undefined> => {
  const scenario = drawScenario(seed, each, kind)
  const numbers = scenario.scripts.map(({ number }) => number)
  let kept: Required<Reduction> = { scripts: numbers, without: [] }
  let tries = 0
  const fails = async (reduction: Partial<Reduction>): Promise<boolean> => {
    const next = { ...kept, ...reduction }
    if (tries === TRIES_MAX || next.scripts.length === 0) return false
    tries += 1
    const run = await checkScenario(reduceScenario(scenario, next)).catch(() => undefined)
    if (run?.violations.length === 0) return false
    kept = next
    return true
  }
  if (!(await fails({}))) return undefined
  for (let size = kept.scripts.length; size > 1; ) {
    size = Math.ceil(size / 2)
    for (let from = 0; from < kept.scripts.length; ) {
      if (!(await fails({ scripts: kept.scripts.toSpliced(from, size) }))) from += size
    }
  }
  for (const name of scenario.faults) await fails({ without: [...kept.without, name] })
  return kept
}
