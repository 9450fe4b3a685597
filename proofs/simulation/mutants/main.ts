import { availableParallelism } from 'node:os'
import { readArguments, wholeNumberIn } from '../../../commands/terminal/arguments.ts'
import type { Task, TaskResult } from '../crash-points/worker.ts'
import { print } from '../terminal.ts'
import { performTasks } from '../worker-pool.ts'
import { type Mutant, mutants } from './mutants.ts'
import { copySource, removeCopy } from './source-copies.ts'

/**
 * `npm run simulate:planted`: runs each mutant until an invariant reports it. Exits with 1 if fewer
 * than 95 % are caught, or if the source without a mutant fails.
 */

const CAUGHT_MIN_PERCENT = 95
const EACH = 100
const CLEAN_RUNS = 10
/** The time limit of one run; generous for a busy machine. */
const RUN_MAX_MS = 120_000

const { values, refuse } = await readArguments({
  name: 'simulate:planted',
  form: '[--only NAME]... [--lifecycles 20000] [--seed 1] [--together N]',
  summary: 'Runs each mutant until an invariant reports it (docs/simulation.md).',
  options: {
    only: { type: 'string', multiple: true },
    lifecycles: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    together: { type: 'string', default: String(availableParallelism()) },
  },
})
const seed = wholeNumberIn('seed', values.seed, refuse)
const runsMax = Math.ceil(wholeNumberIn('lifecycles', values.lifecycles, refuse) / EACH)
const together = wholeNumberIn('together', values.together, refuse)
const selected = mutants.filter(({ name }) => values.only?.includes(name) ?? true)
if (selected.length === 0) refuse(`unknown mutant ${values.only?.join(', ')}`)

for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(130))

const WIDTHS = [42, 18, 18, 8]

const printRow = (...cells: string[]): void => {
  const padded = cells.map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0))
  print(padded.join('  ').trimEnd())
}

type End = { isCaught: boolean; by: string; runs: number }

function* tasks(runs: number): Generator<Task> {
  for (let run = 0; run < runs; run += 1)
    yield { kind: 'run', seed: seed + run, debits: EACH, scenario: undefined }
}

const violationsIn = (result: TaskResult): string => {
  if (result.kind === 'failure') return result.message.slice(0, 60)
  if (result.kind !== 'run') return ''
  const numbers = new Set(result.run.violations.map(({ invariant }) => invariant))
  return [...numbers].sort((a, b) => a - b).join(', ')
}

/** Runs a copy of the source until a run fails; at most so many runs. */
const runCopy = async (most: number, mutant?: Mutant): Promise<End> => {
  const folder = copySource(mutant)
  const end: End = { isCaught: false, by: 'nothing', runs: 0 }
  const onResult = (result: TaskResult): boolean => {
    end.runs += 1
    const violations = violationsIn(result)
    if (violations) Object.assign(end, { isCaught: true, by: violations })
    return !violations
  }
  const options = { size: 1, folder, taskMax: RUN_MAX_MS }
  await performTasks(tasks(most), onResult, options).catch(({ message }: Error) => {
    // A hang may be mere slowness.
    Object.assign(end, { isCaught: !message.includes('hangs'), by: message, runs: end.runs + 1 })
  })
  removeCopy(folder)
  return end
}

const runMutants = async (): Promise<End[]> => {
  const remaining = [...selected]
  const ends: End[] = []
  const work = async (): Promise<void> => {
    for (let mutant = remaining.shift(); mutant; mutant = remaining.shift()) {
      const startedAt = performance.now()
      const end = await runCopy(runsMax, mutant)
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
      printRow(mutant.name, end.by, `${end.runs * EACH}, seed ${seed + end.runs - 1}`, seconds)
      ends.push(end)
    }
  }
  await Promise.all(Array.from({ length: together }, work))
  return ends
}

const { by } = await runCopy(Math.min(CLEAN_RUNS, runsMax))
if (by === 'nothing') {
  printRow('mutant', 'caught by', 'after', 'seconds')
  const ends = await runMutants()
  const caught = ends.filter(({ isCaught }) => isCaught).length
  const percent = (caught / ends.length) * 100
  print(`\n${caught} of ${ends.length} caught (${percent.toFixed(0)} %)`)
  process.exitCode = percent >= CAUGHT_MIN_PERCENT ? 0 : 1
} else {
  print(`The source fails without a mutant: ${by}`)
  process.exitCode = 1
}
