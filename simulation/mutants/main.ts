import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { print, wholeNumber } from '../terminal.ts'
import { type Mutant, mutants } from './mutants.ts'
import { type End, runCopy } from './run-copy.ts'
import { copySource, removeCopies, removeCopy } from './source-copies.ts'

/**
 * `npm run simulate:planted`: runs each mutant until an invariant reports it. Exits with 1 if fewer
 * than 95 % are caught, or if the source without a mutant fails.
 */

const CAUGHT_MIN_PERCENT = 95
/** Debits per run. */
const EACH = 100
/** The runs that the source without a mutant must pass. */
const CLEAN_RUNS = 10

const { values } = parseArgs({
  options: {
    /** The names of mutants; all by default. */
    only: { type: 'string', multiple: true },
    /** The most lifecycles per mutant. */
    lifecycles: { type: 'string', default: '20000' },
    /** The first seed; the next runs use the following ones. */
    seed: { type: 'string', default: '1' },
    /** The mutants that run at a time. */
    together: { type: 'string', default: String(availableParallelism()) },
  },
})

const options = {
  seed: wholeNumber('seed', values.seed),
  lifecycles: wholeNumber('lifecycles', values.lifecycles),
  together: wholeNumber('together', values.together),
}
const selected = mutants.filter(({ name }) => values.only?.includes(name) ?? true)

const controller = new AbortController()
const { signal } = controller
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort())

const WIDTHS = [42, 18, 18, 8]

const printRow = (...cells: string[]): void =>
  print(
    cells
      .map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )

const caughtBy = (end: End): string => {
  if (end.kind === 'clean') return 'nothing'
  if (end.kind === 'hung') return 'nothing: it hangs'
  if (end.kind === 'crashed') return `crash: ${end.message.slice(0, 60)}`
  return [...end.invariants, ...(end.neverIdle ? ['never idle'] : [])].join(', ')
}

/** A crash of the simulator reveals the mutant; a hang may be mere slowness. */
const isCaught = ({ kind }: End): boolean => kind === 'caught' || kind === 'crashed'

const runSeeds = async (runs: number, mutant?: Mutant) => {
  const folder = await copySource(mutant)
  const result = await runCopy(folder, { seed: options.seed, runs, each: EACH }, signal)
  await removeCopy(folder)
  return result
}

const isClean = async (): Promise<boolean> => {
  const { end } = await runSeeds(CLEAN_RUNS)
  if (end.kind !== 'clean' && !signal.aborted) {
    print(`The source fails without a mutant: ${JSON.stringify(end)}`)
  }
  return end.kind === 'clean'
}

/** Runs a mutant until it is caught or its lifecycles are used up, and prints a row. */
const runMutant = async (mutant: Mutant): Promise<End> => {
  const startedAt = performance.now()
  const { end, runs } = await runSeeds(Math.ceil(options.lifecycles / EACH), mutant)
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
  const after = `${runs * EACH}, seed ${options.seed + runs - 1}`
  if (!signal.aborted) printRow(mutant.name, caughtBy(end), after, seconds)
  return end
}

/** Runs the mutants, some at a time. */
const runMutants = async (): Promise<End[]> => {
  const remaining = [...selected]
  const ends: End[] = []
  const work = async (): Promise<void> => {
    for (let next = remaining.shift(); next && !signal.aborted; next = remaining.shift()) {
      ends.push(await runMutant(next))
    }
  }
  await Promise.all(Array.from({ length: options.together }, work))
  return ends
}

const run = async (): Promise<number> => {
  if (selected.length === 0) {
    print(`Unknown mutant: ${values.only?.join(', ')}`)
    return 1
  }
  if (!(await isClean())) return 1
  printRow('mutant', 'caught by', 'after', 'seconds')
  const ends = await runMutants()
  if (signal.aborted) return 130
  const caught = ends.filter(isCaught)
  const percent = (caught.length / ends.length) * 100
  print(`\n${caught.length} of ${ends.length} caught (${percent.toFixed(0)} %)`)
  return percent >= CAUGHT_MIN_PERCENT ? 0 : 1
}

try {
  process.exitCode = await run()
} finally {
  await removeCopies()
}
