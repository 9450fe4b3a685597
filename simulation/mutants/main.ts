import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { print, wholeNumber } from '../terminal.ts'
import { faults } from './mutants.ts'
import { closing, heading, lineOf, shareCaught } from './report.ts'
import { tryOut } from './run-copy.ts'
import { EACH, huntAll } from './run-mutants.ts'
import { copyWith, remove, removeAll } from './source-copies.ts'

/**
 * `npm run simulate:planted`: plants one fault after the other in a copy of the product and scripts
 * through worlds with it, until one of them is told to be wrong. Ends with 1 when fewer than 95 of
 * a hundred are, or when anything is wrong without a fault.
 */

const ENOUGH_PERCENT = 95
/** What the source as it stands must runWorld through without a violation. */
const CLEAN_WORLDS = 10

const { values } = parseArgs({
  options: {
    /** Names of faults; all of them unless some are given. */
    only: { type: 'string', multiple: true },
    /** What each fault may runWorld through. */
    lifecycles: { type: 'string', default: '20000' },
    /** The first seed; each world has the next. */
    seed: { type: 'string', default: '1' },
    /** How many faults are hunted at a time. */
    together: { type: 'string', default: String(availableParallelism()) },
  },
})

const size = {
  seed: wholeNumber('seed', values.seed),
  lifecycles: wholeNumber('lifecycles', values.lifecycles),
  together: wholeNumber('together', values.together),
}
const wanted = faults.filter(({ name }) => values.only?.includes(name) ?? true)

const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => ending.abort())
}

const isClean = async (): Promise<boolean> => {
  const folder = await copyWith()
  const trial = { seed: size.seed, worlds: CLEAN_WORLDS, each: EACH }
  const { end } = await tryOut(folder, trial, ending.signal)
  await remove(folder)
  if (end.kind !== 'clean' && !ending.signal.aborted) {
    print(`Without a fault something is wrong already: ${JSON.stringify(end)}`)
  }
  return end.kind === 'clean'
}

const run = async (): Promise<number> => {
  if (wanted.length === 0) {
    print(`There is no fault ${values.only?.join(', ')}.`)
    return 1
  }
  if (!(await isClean())) return 1
  print(heading)
  const { signal } = ending
  const hunted = await huntAll(wanted, { ...size, signal }, (one) => print(lineOf(one)))
  if (signal.aborted) return 130
  for (const line of closing(hunted)) print(line)
  return shareCaught(hunted) >= ENOUGH_PERCENT ? 0 : 1
}

try {
  process.exitCode = await run()
} finally {
  await removeAll()
}
