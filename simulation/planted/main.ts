import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { copyWith, remove, removeAll } from './copies.ts'
import { faults } from './faults.ts'
import { huntAll } from './hunt.ts'
import { closing, heading, lineOf, shareCaught } from './table.ts'
import { tryOut } from './trial.ts'

/**
 * Plants one fault after the other in copies of the product, and lets the simulator live in each:
 * `npm run simulate:planted -- [--only NAME] [--lifecycles N]`. It fails when fewer than 95 of a
 * hundred are told.
 */

const ENOUGH_PERCENT = 95
/** What the source as it stands must live through without a complaint. */
const CLEAN_LIFECYCLES = 50

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    lifecycles: { type: 'string', default: '800' },
    together: { type: 'string', default: String(availableParallelism()) },
  },
})
const budget = Number(values.lifecycles)
const together = Number(values.together)
const wanted = faults.filter(({ name }) => values.only?.includes(name) ?? true)

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => ending.abort())
}

const isClean = async (): Promise<boolean> => {
  const folder = await copyWith()
  const trial = { lifecycles: Math.min(CLEAN_LIFECYCLES, budget), seed: 1 }
  const end = await tryOut(folder, trial, ending.signal)
  await remove(folder)
  if (end.kind !== 'clean' && !ending.signal.aborted) {
    print(`The source as it stands is not clean: ${JSON.stringify(end)}`)
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
  const hunted = await huntAll(wanted, { budget, together, signal }, (one) => print(lineOf(one)))
  if (signal.aborted) return 130
  for (const line of closing(hunted)) print(line)
  return shareCaught(hunted) >= ENOUGH_PERCENT ? 0 : 1
}

try {
  process.exitCode = await run()
} finally {
  await removeAll()
}
