import { checkScenario } from '../check.ts'
import { print, printVerdict, violationLine } from '../terminal.ts'
import type { Told, Wanted } from '../worker.ts'
import { workThrough } from '../worker-pool.ts'
import { pairedShapes, scenarioOf, shapes } from './shapes.ts'

/** Each shape with a worker lost at each effect, and what is to be said of them all. */

type Size = { pairs: boolean; oneIn: number; workers: number }
type Wish = Extract<Wanted, { kind: 'shape' }>

/** More that goes wrong than this says nothing new. */
const WRONG_MAX = 10

const countEffects = async (chosen: typeof shapes): Promise<Map<string, number>> => {
  const counts = new Map<string, number>()
  for (const shape of chosen) {
    const { effects, violations } = await checkScenario(scenarioOf(shape))
    if (violations.length > 0) throw new Error(`${shape.name} is wrong by itself`)
    counts.set(shape.name, effects.length)
  }
  return counts
}

function* wishes(counts: ReadonlyMap<string, number>, { pairs, oneIn }: Size): Generator<Wish> {
  let n = 0
  for (const [name, count] of counts) {
    for (let effect = 1; effect <= count; effect += 1) {
      n += 1
      if (n % oneIn === 0) yield { kind: 'shape', name, effect, pairs }
    }
  }
}

const printWrong = (told: Told, { name }: Wish): void => {
  if (told.kind === 'failure') print(`${name}: ${told.says}`)
  if (told.kind !== 'shape') return
  for (const { crashes, violations } of told.unit.wrong) {
    const spelled = crashes.map(({ effect, when }) => `${effect}:${when}`).join(',')
    for (const violation of violations) print(`${name}, ${spelled}: ${violationLine(violation)}`)
    print(`  again: npm run simulate:kills -- --shape '${name}' --deaths ${spelled} --trace`)
  }
}

/** @returns 1 when anything was wrong */
export const killEverywhere = async (size: Size): Promise<number> => {
  const startedAt = performance.now()
  const counts = await countEffects(size.pairs ? pairedShapes : shapes)
  const effects = [...counts.values()].reduce((sum, count) => sum + count, 0)
  let [worlds, met, wrong] = [0, 0, 0]
  const take = (told: Told, wish: Wish): boolean => {
    if (told.kind === 'shape') {
      worlds += told.unit.worlds
      met += told.unit.met
    }
    const isWrong = told.kind !== 'shape' || told.unit.wrong.length > 0
    if (isWrong) {
      wrong += 1
      printWrong(told, wish)
    }
    return wrong < WRONG_MAX
  }
  await workThrough(wishes(counts, size), take, size.workers)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  const which = size.pairs ? 'each pair of effects' : 'each effect'
  const part = size.oneIn === 1 ? '' : `, one in ${size.oneIn}`
  print(
    `${counts.size} shapes, ${effects} effects; a worker lost before and after ${which}${part}: ` +
      `${worlds} worlds, ${met} of which met it, ${seconds} s with ${size.workers} workers`,
  )
  printVerdict(wrong === 0)
  return wrong === 0 ? 0 : 1
}
