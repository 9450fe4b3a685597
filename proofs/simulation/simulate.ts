import { createHash } from 'node:crypto'
import { newProgress } from '../../commands/terminal/progress.ts'
import type { CheckedRun, Replayed } from './check.ts'
import type { Task, TaskResult } from './crash-points/worker.ts'
import { faults } from './engine/faults.ts'
import { kinds } from './scenario/kinds.ts'
import { print, printVerdict, violationLine } from './terminal.ts'
import { performTasks } from './worker-pool.ts'

/** Runs the scenarios of many seeds and prints a summary. */

type Size = Replayed & { lifecycles: number }

/** The failed runs after which the simulator stops. */
const FAILED_MAX = 5

/** One run in so many is repeated; its trace must be identical. */
const REPEATED_EACH = 500

type Run = Omit<CheckedRun, 'effects' | 'story'>

type Failed = { seed: number; lines: string[]; isShrinkable: boolean }

type RunTask = Extract<Task, { kind: 'run' }>

function* tasks({ seed, lifecycles, each, kind }: Size): Generator<RunTask> {
  const count = Math.ceil(lifecycles / each)
  for (const step of [1, REPEATED_EACH]) {
    for (let index = 0; index < count; index += step)
      yield { kind: 'run', seed: seed + index, debits: each, scenario: kind }
  }
}

const printCounts = (
  title: string,
  counts: readonly (readonly [name: string, times: number])[],
  rows: Record<string, { description: string }> = {},
): void => {
  const sums = new Map(Object.keys(rows).map((name) => [name, { times: 0, runs: 0 }]))
  for (const [name, more] of counts) {
    const { times, runs } = sums.get(name) ?? { times: 0, runs: 0 }
    sums.set(name, { times: times + more, runs: runs + Math.sign(more) })
  }
  const width = Math.max(...[title, ...sums.keys()].map(({ length }) => length))
  const printRow = (name: string, ...cells: unknown[]) =>
    print([name.padEnd(width), ...cells.map((cell) => String(cell).padStart(8))].join(' '))
  printRow(title, 'times', 'in runs')
  for (const [name, { times, runs }] of sums)
    printRow(name, times, runs, ...(rows[name] ? [` ${rows[name].description}`] : []))
  print()
}

const printFailed = async (
  { seed, isShrinkable }: Failed,
  { each, kind }: Size,
  isFirst: boolean,
) => {
  const command = `npm run simulate -- --seed ${seed} --each ${each}${kind ? ` --scenario '${kind}'` : ''}`
  if (!isFirst || !isShrinkable) return print(`  replay: ${command} --lifecycles ${each}`)
  // Only the workers load the product before a run fails.
  const { drawScenario } = await import('./scenario/scenario.ts')
  const { reduceScenario, replay, shrink } = await import('./check.ts')
  const reduction = await shrink({ seed, each, kind })
  if (!reduction) return print('  the replay passed: the run is not deterministic')
  const { scripts = [], without = [] } = reduction
  print(`\nThe smallest failing run found has ${scripts.length} of ${each} debits:\n`)
  await replay(reduceScenario(drawScenario(seed, each, kind), reduction))
  const omitted = without.length > 0 ? ` --without '${without.join(',')}'` : ''
  print(`replay: ${command} --lives ${scripts.join(',')}${omitted}`)
  print('  --trace prints each step\n')
}

const MILLION = 1_000_000

/** Prints each kind of scenario and each fault, and the runs that have it in a million lifecycles. */
export const printTables = async (each: number): Promise<void> => {
  const { HEALTHY_SHARE } = await import('./scenario/scenario.ts')
  const all = Object.values(kinds).reduce((sum, { weight }) => sum + weight, 0)
  const runs = (share: number): string => String(Math.round((MILLION / each) * share)).padStart(6)
  print(`Of ${MILLION / each} runs, a million lifecycles, so many have this kind of scenario:\n`)
  for (const [name, { weight, description, settings }] of Object.entries(kinds)) {
    const own = settings.faults?.length ? `; always ${settings.faults.join(', ')}` : ''
    print(`${runs(weight / all)}  ${name}: ${description}${own}`)
  }
  print(
    `\n${100 * HEALTHY_SHARE} % of the runs have no faults. So many of the others have this fault:\n`,
  )
  for (const [name, { share, description }] of Object.entries(faults))
    print(`${runs(share * (1 - HEALTHY_SHARE))}  ${name}: ${description}`)
}

export const simulate = async (size: Size, workers: number): Promise<number> => {
  const runs = new Map<number, Run>()
  const failed: Failed[] = []
  let identical = 0
  const fail = (seed: number, lines: string[], isShrinkable = false) =>
    failed.push({ seed, lines, isShrinkable })
  const addRun = (run: Run): void => {
    const { seed, digest, violations } = run
    const previous = runs.get(seed)
    if (previous?.digest === digest) identical += 1
    else if (previous) fail(seed, ['invariant 37: a repeated run has another trace'])
    else {
      runs.set(seed, run)
      if (violations.length > 0) fail(seed, violations.map(violationLine), true)
    }
  }
  const tick = newProgress('runs', [...tasks(size)].length)
  const onResult = (result: TaskResult, { seed }: RunTask): boolean => {
    tick()
    if (result.kind === 'run') addRun(result.run)
    else if (result.kind === 'failure') fail(seed, [result.message])
    return failed.length < FAILED_MAX
  }
  const startedAt = performance.now()
  await performTasks(tasks(size), onResult, { size: workers })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  const all = [...runs.values()].sort((one, other) => one.seed - other.seed)
  const sum = (name: 'scripts' | 'debits' | 'steps') =>
    all.reduce((total, run) => total + run[name], 0)
  const hits = all.flatMap((run) => run.hits)
  printCounts('fault', hits, faults)
  const drawn = all.map(({ kind }) => [kind, 1] as const)
  printCounts('scenario', drawn, kinds)
  const events = all.flatMap((run) => run.events)
  printCounts('rare event', events)
  print(
    `${sum('scripts')} lifecycles (${sum('debits')} debits) in ${all.length} runs from seed ` +
      `${size.seed}, ${sum('steps')} steps, ${seconds} s with ${workers} workers; ` +
      `${identical} repeated runs were identical`,
  )
  const digest = createHash('sha256')
  for (const { seed, digest: own } of all) digest.update(`${seed} ${own}\n`)
  print(`trace of all: ${digest.digest('hex')}`)
  // The search for the smallest run takes minutes.
  for (const { seed, lines } of failed)
    for (const line of lines.slice(0, 10)) print(`seed ${seed}: ${line}`)
  for (const one of failed) await printFailed(one, size, one === failed[0])
  printVerdict(failed.length === 0)
  return failed.length === 0 ? 0 : 1
}
