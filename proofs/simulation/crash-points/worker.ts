import '../platform/register.ts'
import type { CheckedRun } from '../check.ts'
import type { Crash } from '../engine/effects.ts'
import type { Violation } from '../engine/observations.ts'
import type { KindName } from '../scenario/kinds.ts'

/** A process that runs scenarios, one after the other. */

export type ShapeResult = {
  runs: number
  crashed: number
  failed: { crashes: readonly Crash[]; violations: readonly Violation[] }[]
}

export type Task =
  | { kind: 'run'; seed: number; debits: number; scenario: KindName | undefined }
  | { kind: 'shape'; name: string; effect: number; pairs: boolean }

export type TaskResult =
  | { kind: 'run'; run: Omit<CheckedRun, 'effects' | 'story'> }
  | { kind: 'shape'; result: ShapeResult }
  | { kind: 'failure'; message: string }

// The system's own object is slow, and each call reads it.
process.env = { ...process.env }
// Rejected writes throw thousands of errors a second; nobody reads their stacks.
Error.stackTraceLimit = 0

// Loads the product last, after the replacements of the network and AWS.
await import('../aws/environment.ts')
const { drawScenario } = await import('../scenario/scenario.ts')
const { checkScenario } = await import('../check.ts')
const { scenarioOf, shapeNamed } = await import('./shapes.ts')

type ShapeTask = Extract<Task, { kind: 'shape' }>

const WHENS = ['before', 'after'] as const

/** Runs a shape with a crash at one effect, or at that and each later one. */
const runShape = async ({ name, effect, pairs }: ShapeTask): Promise<ShapeResult> => {
  const scenario = scenarioOf(shapeNamed(name))
  const result: ShapeResult = { runs: 0, crashed: 0, failed: [] }
  const runWith = async (crashes: readonly Crash[]): Promise<number> => {
    const { violations, effects } = await checkScenario({ ...scenario, crashes })
    result.runs += 1
    if (crashes.every((crash) => crash.effect <= effects.length)) result.crashed += 1
    if (violations.length > 0) result.failed.push({ crashes, violations })
    return effects.length
  }
  for (const when of WHENS) {
    const first = { effect, when }
    if (!pairs) {
      await runWith([first])
      continue
    }
    for (const whenLater of WHENS) {
      // Retries add effects, so each run corrects their number.
      let count = Infinity
      for (let later = effect + 1; later <= count; later += 1)
        count = await runWith([first, { effect: later, when: whenLater }])
    }
  }
  return result
}

const perform = async (task: Task): Promise<TaskResult> => {
  if (task.kind === 'shape') return { kind: 'shape', result: await runShape(task) }
  const scenario = drawScenario(task.seed, task.debits, task.scenario)
  const { effects: _, story: _story, ...run } = await checkScenario(scenario)
  return { kind: 'run', run }
}

process.on('message', async (task: Task) => {
  const result = await perform(task).catch(
    (error: unknown): TaskResult => ({ kind: 'failure', message: String(error) }),
  )
  process.send?.(result)
})
process.send?.('ready')
