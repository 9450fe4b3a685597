import { createHash } from 'node:crypto'
import type { Trial } from './check.ts'
import { faultNames, faults } from './engine/faults.ts'
import { shrink, traceOf } from './shrink.ts'
import { print, printVerdict, violationLine } from './terminal.ts'
import type { Told, Wanted } from './worker.ts'
import { workThrough } from './worker-pool.ts'

/** Many worlds, and what is to be said of them all. */

type Size = { seed: number; lifecycles: number; each: number }

/** More worlds that go wrong than these say nothing new. */
const WRONG_MAX = 5

/** One world in so many is lived through twice: it must be the same to the last step. */
const AGAIN_EACH = 500

/** A world with violations, or one that could not be lived through. */
type Wrong = { seed: number; violations: Trial['violations']; failure?: string }

type Wish = Extract<Wanted, { kind: 'world' }>

type Sum = {
  lifecycles: number
  debits: number
  steps: number
  worlds: number
  /** Worlds that were lived through again, and were the same. */
  same: number
  hits: Map<string, number>
  digests: Map<number, string>
  wrong: Wrong[]
}

function* worlds({ seed, lifecycles, each }: Size): Generator<Wish> {
  const count = Math.ceil(lifecycles / each)
  for (let n = 0; n < count; n += 1) yield { kind: 'world', seed: seed + n, lifecycles: each }
  for (let n = 0; n < count; n += AGAIN_EACH)
    yield { kind: 'world', seed: seed + n, lifecycles: each }
}

/** @returns whether more worlds are wanted */
const add = (sum: Sum, told: Told, { seed }: Wish): boolean => {
  if (told.kind === 'world') addTrial(sum, told.trial)
  else if (told.kind === 'failure') sum.wrong.push({ seed, violations: [], failure: told.says })
  return sum.wrong.length < WRONG_MAX
}

const addTrial = (sum: Sum, trial: Omit<Trial, 'effects'>): void => {
  const { seed, digest, violations, lifecycles, debits, steps, hits } = trial
  const before = sum.digests.get(seed)
  if (before !== undefined) {
    const failure = 'invariant 37: lived through again, its trace was another'
    if (before === digest) sum.same += 1
    else sum.wrong.push({ seed, violations: [], failure })
    return
  }
  sum.digests.set(seed, digest)
  sum.worlds += 1
  sum.lifecycles += lifecycles
  sum.debits += debits
  sum.steps += steps
  for (const [name, times] of hits) sum.hits.set(name, (sum.hits.get(name) ?? 0) + times)
  if (violations.length > 0) sum.wrong.push({ seed, violations })
}

const printHits = ({ hits }: Sum): void => {
  const width = Math.max(...faultNames.map(({ length }) => length))
  print(`${'fault'.padEnd(width)} ${'times'.padStart(10)}`)
  for (const name of faultNames) {
    print(`${name.padEnd(width)} ${String(hits.get(name) ?? 0).padStart(10)}  ${faults[name].says}`)
  }
}

const printWrong = async (
  { seed, violations, failure }: Wrong,
  each: number,
  isFirst: boolean,
): Promise<void> => {
  if (failure) print(`seed ${seed}: ${failure}`)
  for (const violation of violations.slice(0, 10))
    print(`seed ${seed}: ${violationLine(violation)}`)
  const command = `npm run simulate -- --seed ${seed} --each ${each} --trace`
  print(`  again: ${command}`)
  if (!isFirst || failure) return
  const cut = await shrink(seed, each)
  if (!cut) return print('  lived through again, nothing was wrong with it: it is not the same')
  const left = cut.without.length > 0 ? ` --without '${cut.without.join(',')}'` : ''
  print(`  the least of it: ${command} --lives ${cut.scripts.join(',')}${left}`)
  for (const line of await traceOf(seed, each, cut)) print(`    ${line}`)
}

/** @returns 1 when anything was wrong */
export const simulate = async (size: Size, workers: number): Promise<number> => {
  const sum: Sum = {
    lifecycles: 0,
    debits: 0,
    steps: 0,
    worlds: 0,
    same: 0,
    hits: new Map(),
    digests: new Map(),
    wrong: [],
  }
  const startedAt = performance.now()
  await workThrough(worlds(size), (told, wish) => add(sum, told, wish), workers)
  const seconds = (performance.now() - startedAt) / 1000
  printHits(sum)
  print()
  const whole = createHash('sha256')
  for (const [seed, digest] of [...sum.digests].sort(([a], [b]) => a - b))
    whole.update(`${seed} ${digest}\n`)
  print(
    `${sum.lifecycles} lifecycles (${sum.debits} debits) in ${sum.worlds} worlds from seed ${size.seed}, ` +
      `${sum.steps} steps, ${seconds.toFixed(0)} s with ${workers} workers; ` +
      `${sum.same} worlds lived through again were the same`,
  )
  print(`trace of all: ${whole.digest('hex')}`)
  for (const [n, told] of sum.wrong.entries()) await printWrong(told, size.each, n === 0)
  const isRight = sum.wrong.length === 0
  printVerdict(isRight)
  return isRight ? 0 : 1
}
