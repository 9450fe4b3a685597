import { createHash } from 'node:crypto'
import type { CheckedRun } from './check.ts'
import { type FaultName, faultNames, faults } from './engine/faults.ts'
import { rareEventNames } from './rare-events.ts'
import { type KindName, kindNames, kinds } from './scenario/kinds.ts'
import { type Replayed, shrink, traceOf } from './shrink.ts'
import { print, printVerdict, violationLine } from './terminal.ts'
import type { Task, TaskResult } from './worker.ts'
import { performTasks } from './worker-pool.ts'

/** Runs the scenarios of many seeds and prints a summary. */

type Size = Replayed & { lifecycles: number }

/** The failed runs after which the simulator stops. */
const FAILED_MAX = 5

/** One run in so many is repeated; its trace must be identical. */
const REPEATED_EACH = 500

type Failed = { seed: number; violations: CheckedRun['violations']; failure?: string }

type RunTask = Extract<Task, { kind: 'run' }>

type Summary = {
  lifecycles: number
  debits: number
  steps: number
  /** Repeated runs with the same trace. */
  identical: number
  hits: Map<string, number>
  /** Runs by kind of scenario, and rare events. */
  kinds: Map<string, number>
  events: Map<string, number>
  digests: Map<number, string>
  failed: Failed[]
}

function* tasks({ seed, lifecycles, each, kind }: Size): Generator<RunTask> {
  const count = Math.ceil(lifecycles / each)
  for (const step of [1, REPEATED_EACH]) {
    for (let index = 0; index < count; index += step) {
      yield { kind: 'run', seed: seed + index, debits: each, scenario: kind }
    }
  }
}

/** @returns whether to continue */
const add = (summary: Summary, result: TaskResult, { seed }: RunTask): boolean => {
  if (result.kind === 'run') addRun(summary, result.run)
  else if (result.kind === 'failure') {
    summary.failed.push({ seed, violations: [], failure: result.message })
  }
  return summary.failed.length < FAILED_MAX
}

const addRun = (summary: Summary, run: Omit<CheckedRun, 'effects'>): void => {
  const { seed, digest, violations, scripts, debits, steps, hits, kind, events } = run
  const previous = summary.digests.get(seed)
  if (previous !== undefined) {
    const failure = 'invariant 37: a repeated run has another trace'
    if (previous === digest) summary.identical += 1
    else summary.failed.push({ seed, violations: [], failure })
    return
  }
  summary.digests.set(seed, digest)
  summary.lifecycles += scripts
  summary.debits += debits
  summary.steps += steps
  count(summary.kinds, [[kind, 1]])
  count(summary.hits, hits)
  count(summary.events, events)
  if (violations.length > 0) summary.failed.push({ seed, violations })
}

const count = (counts: Map<string, number>, more: Iterable<readonly [string, number]>): void => {
  for (const [name, times] of more) counts.set(name, (counts.get(name) ?? 0) + times)
}

const printCounts = (
  title: string,
  names: readonly string[],
  counts: ReadonlyMap<string, number>,
  describe: (name: string) => string = () => '',
): void => {
  const width = Math.max(title.length, ...names.map(({ length }) => length))
  print(`${title.padEnd(width)} ${'times'.padStart(10)}`)
  for (const name of names) {
    const times = String(counts.get(name) ?? 0).padStart(10)
    print(`${name.padEnd(width)} ${times}  ${describe(name)}`.trimEnd())
  }
  print()
}

const printSummary = ({ hits, kinds: runs, events }: Summary): void => {
  printCounts('fault', faultNames, hits, (name) => faults[name as FaultName].description)
  printCounts('scenario', kindNames, runs, (name) => kinds[name as KindName].description)
  printCounts('rare event', rareEventNames, events)
}

const printFailed = async (
  { seed, violations, failure }: Failed,
  { each, kind }: Size,
  isFirst: boolean,
): Promise<void> => {
  if (failure) print(`seed ${seed}: ${failure}`)
  for (const violation of violations.slice(0, 10)) {
    print(`seed ${seed}: ${violationLine(violation)}`)
  }
  const forced = kind ? ` --scenario '${kind}'` : ''
  const command = `npm run simulate -- --seed ${seed} --each ${each}${forced} --trace`
  print(`  replay: ${command}`)
  if (!isFirst || failure) return
  const reduction = await shrink({ seed, each, kind })
  if (!reduction) return print('  the replay passed: the run is not deterministic')
  const { scripts, without } = reduction
  const omitted = without.length > 0 ? ` --without '${without.join(',')}'` : ''
  print(`  smallest failing run: ${command} --lives ${scripts.join(',')}${omitted}`)
  for (const line of await traceOf({ seed, each, kind }, reduction)) print(`    ${line}`)
}

/** @returns the exit code: 1 after a violation */
export const simulate = async (size: Size, workers: number): Promise<number> => {
  const summary: Summary = {
    lifecycles: 0,
    debits: 0,
    steps: 0,
    identical: 0,
    hits: new Map(),
    kinds: new Map(),
    events: new Map(),
    digests: new Map(),
    failed: [],
  }
  const startedAt = performance.now()
  await performTasks(tasks(size), (result, task) => add(summary, result, task), { size: workers })
  const seconds = (performance.now() - startedAt) / 1000
  printSummary(summary)
  const digest = createHash('sha256')
  for (const [seed, own] of [...summary.digests].sort(([a], [b]) => a - b)) {
    digest.update(`${seed} ${own}\n`)
  }
  print(
    `${summary.lifecycles} lifecycles (${summary.debits} debits) in ${summary.digests.size} runs from seed ` +
      `${size.seed}, ${summary.steps} steps, ${seconds.toFixed(0)} s with ${workers} workers; ` +
      `${summary.identical} repeated runs were identical`,
  )
  print(`trace of all: ${digest.digest('hex')}`)
  for (const [index, failed] of summary.failed.entries()) {
    await printFailed(failed, size, index === 0)
  }
  const isClean = summary.failed.length === 0
  printVerdict(isClean)
  return isClean ? 0 : 1
}
