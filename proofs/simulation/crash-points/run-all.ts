import { newProgress } from '../../../commands/terminal/progress.ts'
import { checkScenario } from '../check.ts'
import { print, printVerdict, violationLine } from '../terminal.ts'
import { performTasks } from '../worker-pool.ts'
import { pairedShapes, type Shape, scenarioOf, shapes } from './shapes.ts'
import type { Task, TaskResult } from './worker.ts'

type Size = { pairs: boolean; oneIn: number; workers: number }
type ShapeTask = Extract<Task, { kind: 'shape' }>

const FAILED_MAX = 10

const countEffects = async (shapes: readonly Shape[]): Promise<Map<string, number>> => {
  const counts = new Map<string, number>()
  for (const shape of shapes) {
    const { effects, violations } = await checkScenario(scenarioOf(shape))
    if (violations.length > 0) throw new Error(`${shape.name} fails without a crash`)
    counts.set(shape.name, effects.length)
  }
  return counts
}

function* tasks(counts: ReadonlyMap<string, number>, { pairs, oneIn }: Size): Generator<ShapeTask> {
  let index = 0
  for (const [name, count] of counts) {
    for (let effect = 1; effect <= count; effect += 1) {
      index += 1
      if (index % oneIn === 0) yield { kind: 'shape', name, effect, pairs }
    }
  }
}

const printFailed = (result: TaskResult, { name }: ShapeTask): void => {
  if (result.kind === 'failure') print(`${name}: ${result.message}`)
  if (result.kind !== 'shape') return
  for (const { crashes, violations } of result.result.failed) {
    const points = crashes.map(({ effect, when }) => `${effect}:${when}`).join(',')
    for (const violation of violations) print(`${name}, ${points}: ${violationLine(violation)}`)
    print(`  replay: npm run simulate:kills -- --shape '${name}' --deaths ${points} --trace`)
  }
}

/** @returns the exit code: 1 after a violation */
export const runAllCrashPoints = async (size: Size): Promise<number> => {
  const startedAt = performance.now()
  const counts = await countEffects(size.pairs ? pairedShapes : shapes)
  const effects = [...counts.values()].reduce((sum, count) => sum + count, 0)
  let [runs, crashed, failed] = [0, 0, 0]
  const tick = newProgress('crash points', [...tasks(counts, size)].length)
  const add = (result: TaskResult, task: ShapeTask): boolean => {
    tick()
    if (result.kind === 'shape') {
      runs += result.result.runs
      crashed += result.result.crashed
    }
    if (result.kind !== 'shape' || result.result.failed.length > 0) {
      failed += 1
      printFailed(result, task)
    }
    return failed < FAILED_MAX
  }
  await performTasks(tasks(counts, size), add, { size: size.workers })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  const points = size.pairs ? 'each pair of effects' : 'each effect'
  const part = size.oneIn === 1 ? '' : `, one in ${size.oneIn}`
  print(
    `${counts.size} shapes, ${effects} effects; a crash before and after ${points}${part}: ` +
      `${runs} runs, ${crashed} of them crashed, ${seconds} s with ${size.workers} workers`,
  )
  printVerdict(failed === 0)
  return failed === 0 ? 0 : 1
}
