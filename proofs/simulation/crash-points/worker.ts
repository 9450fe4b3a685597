import '../platform/register.ts'
import type { CheckedRun } from '../check.ts'
import type { KindName } from '../scenario/kinds.ts'
import type { ShapeResult } from './run-shape.ts'

/** A process that runs scenarios, one after the other. */

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
const { runShape } = await import('./run-shape.ts')

const perform = async (task: Task): Promise<TaskResult> => {
  if (task.kind === 'shape') return { kind: 'shape', result: await runShape(task) }
  const {
    effects: _,
    story: _story,
    ...run
  } = await checkScenario(drawScenario(task.seed, task.debits, task.scenario))
  return { kind: 'run', run }
}

process.on('message', async (task: Task) => {
  const result = await perform(task).catch(
    (error: unknown): TaskResult => ({ kind: 'failure', message: String(error) }),
  )
  process.send?.(result)
})
process.send?.('ready')
