import type { ProviderId } from '../domain/providers/provider.ts'
import type { Runtime } from '../runtime.ts'
import * as store from '../store/settlement/reconciliations.ts'
import { checkBatches, checkLines } from './batches.ts'
import { checkExceptions, checkRefunds } from './cases.ts'
import { readTotal } from './day-total.ts'
import { checkDebits, checkEnded, checkFeed, checkUnsettled } from './debits.ts'
import { carriedSince } from './ledger-checks.ts'
import { deriveLines, deriveProvider } from './ledger-part.ts'
import { newResult, type PartScope, resultToText, type Task } from './part.ts'
import { windowFor } from './runs.ts'
import { SLICE_MAX, splitSpan } from './slices.ts'

/** Performs one step of a task. Returns what is left of it, or the tasks that follow from it. */
type Perform<T> = (task: T, scope: PartScope) => Promise<readonly Task[]>

const performers: { [T in Task['type']]: Perform<Extract<Task, { type: T }>> } = {
  total: readTotal,
  debits: checkDebits,
  feed: checkFeed,
  ended: checkEnded,
  reversed: checkEnded,
  unsettled: checkUnsettled,
  batches: checkBatches,
  lines: checkLines,
  exceptions: checkExceptions,
  refunds: checkRefunds,
  ledger: deriveProvider,
  entries: deriveLines,
}

export type PartOptions = {
  /** Called after each step. */
  timeIsUp: () => boolean
  sliceMax?: number
}

/**
 * Performs a part until its tasks are done or the time is up, and stores what it found once: a repeated
 * or concurrent call stores nothing. The rest becomes new parts, which several workers can perform.
 */
export const performPart = async (
  run: store.ReconciliationRun,
  part: store.ReconciliationPart,
  runtime: Pick<Runtime, 'now' | 'random' | 'pause'>,
  { timeIsUp, sliceMax = SLICE_MAX }: PartOptions,
): Promise<void> => {
  const scope: PartScope = {
    ...newResult(),
    provider: part.id.split('#')[0] as ProviderId,
    window: await windowFor(run),
    carriedFrom: carriedSince(run),
    now: runtime.now,
    sliceMax,
  }
  let tasks: readonly Task[] = JSON.parse(part.tasks)
  do {
    const [task, ...others] = tasks
    if (!task) break
    const perform = performers[task.type] as Perform<Task>
    tasks = [...(await perform(task, scope)), ...others]
  } while (!timeIsUp())
  const rest = sharesOf(tasks).map((share, index) => ({
    id: `${part.id}#${String(index).padStart(2, '0')}`,
    run: run.id,
    tasks: JSON.stringify(share),
  }))
  await store.completePart(part, { findings: resultToText(scope), rest }, runtime)
}

/** Workers that continue one span of a large provider. */
const SPLITS = 8
/** Parts that continue a part; one transaction creates them. */
const SHARES_MAX = 90

/** Distributes tasks, in their order. */
const sharesOf = (tasks: readonly Task[]): Task[][] => {
  const single = tasks.flatMap((task): Task[] =>
    'from' in task ? splitSpan(task, SPLITS) : [task],
  )
  const size = Math.ceil(single.length / SHARES_MAX)
  return Array.from({ length: size && Math.ceil(single.length / size) }, (_, index) =>
    single.slice(index * size, (index + 1) * size),
  )
}
