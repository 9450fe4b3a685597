import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { print, wholeNumber } from '../terminal.ts'
import { mutants } from './mutants.ts'
import { runCopy } from './run-copy.ts'
import { EACH, isCaught, type MutantResult, runMutants } from './run-mutants.ts'
import { copySource, removeCopies, removeCopy } from './source-copies.ts'

/**
 * `npm run simulate:planted`: runs each mutant until an invariant reports it. Exits with 1 if fewer
 * than 95 % are caught, or if the source without a mutant fails.
 */

const CAUGHT_MIN_PERCENT = 95
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

const caughtBy = ({ end }: MutantResult): string => {
  if (end.kind === 'clean') return 'nothing'
  if (end.kind === 'hung') return 'nothing: it hangs'
  if (end.kind === 'crashed') return `crash: ${end.message.slice(0, 60)}`
  return [...end.invariants, ...(end.neverIdle ? ['never idle'] : [])].join(', ')
}

const isClean = async (): Promise<boolean> => {
  const folder = await copySource()
  const { end } = await runCopy(
    folder,
    { seed: options.seed, runs: CLEAN_RUNS, each: EACH },
    signal,
  )
  await removeCopy(folder)
  if (end.kind !== 'clean' && !signal.aborted) {
    print(`The source fails without a mutant: ${JSON.stringify(end)}`)
  }
  return end.kind === 'clean'
}

const run = async (): Promise<number> => {
  if (selected.length === 0) {
    print(`Unknown mutant: ${values.only?.join(', ')}`)
    return 1
  }
  if (!(await isClean())) return 1
  printRow('mutant', 'caught by', 'after', 'seconds')
  const results = await runMutants(selected, { ...options, signal }, (result) => {
    const { mutant, lifecycles, seed, seconds } = result
    printRow(mutant.name, caughtBy(result), `${lifecycles}, seed ${seed}`, seconds.toFixed(0))
  })
  if (signal.aborted) return 130
  const caught = results.filter(isCaught)
  const percent = (caught.length / results.length) * 100
  print(`\n${caught.length} of ${results.length} caught (${percent.toFixed(0)} %)`)
  return percent >= CAUGHT_MIN_PERCENT ? 0 : 1
}

try {
  process.exitCode = await run()
} finally {
  await removeCopies()
}
