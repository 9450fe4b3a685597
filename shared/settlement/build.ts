import type { BatchId, Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { type Day, startOf } from '../domain/time.ts'
import { log, logUnreadable } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { groupsOf } from '../store/concurrent.ts'
import { findDebits } from '../store/debits/debits.ts'
import { findProvider } from '../store/providers/providers.ts'
import { listBatchesOfDay } from '../store/settlement/batches.ts'
import {
  acquireLanes,
  completeBuild,
  divideLanes,
  finishLanes,
  type HeldLanes,
  releaseLanes,
} from '../store/settlement/build-lease.ts'
import { findLines, LINES_PER_CHUNK } from '../store/settlement/lines.ts'
import { findSweepProgress, sweptBefore } from '../store/sweep-progress.ts'
import { unsettledPages } from '../store/work-index.ts'
import { type BuildScope, type Candidate, openLanes } from './lanes.ts'
import { prefetch } from './prefetch.ts'
import { finishBatch } from './seal.ts'

export type BuildRequest = {
  provider: ProviderId
  date: Day
  linesMax?: number
  /** The debits of a run after which it divides the day into lanes. */
  dividesAfter?: number
  /** Checked between pages and batches. Default: never. */
  timeIsUp?: () => boolean
}

/**
 * The batches that got lines or reports. `isDone` is false if the run hit its time limit, or if other
 * builders hold lanes.
 */
type BuildResult = { batches: BatchId[]; isDone: boolean }

/** Sums and reports of one such batch take a few seconds. A larger day has several batches. */
const LINES_MAX = 200_000

/** One lane writes these in two seconds. Each further lane costs a gate and a part of a chunk. */
const DIVIDES_AFTER = 1_000

const BEGINNING = new Date(0)

/**
 * Builds the batches of a provider for a day (docs/api.md#batches): a line for every completed debit
 * of earlier days that has none, and an adjustment for every debit reversed after its settlement.
 * A line and the mark on its debit are one transaction, so repeated or concurrent runs settle a debit
 * once. The next run continues an interrupted one.
 */
export const buildBatch = async (request: BuildRequest, runtime: Runtime): Promise<BuildResult> => {
  const batches = new Set<BatchId>()
  for (;;) {
    const build = await acquireLanes(request, runtime)
    if (!build) {
      const { provider, date } = request
      log.info('batch is being built by another run', { provider, date })
      return { batches: [...batches], isDone: false }
    }
    const end = await buildHeld(build, request, batches, runtime)
    if (end !== 'lanes done') return { batches: [...batches], isDone: end === 'done' }
  }
}

/** `lanes done`: the lanes that it held; others are free or in work. */
type BuildEnd = 'done' | 'lanes done' | 'time is up'

const buildHeld = async (
  build: HeldLanes,
  request: BuildRequest,
  batches: Set<BatchId>,
  runtime: Runtime,
): Promise<BuildEnd> => {
  try {
    const end = await runLanes(build, request, batches, runtime)
    if (end === 'large') {
      return await buildHeld(await divideLanes(build, runtime), request, batches, runtime)
    }
    if (end === 'done' && !(await finishLanes(build, runtime))) return 'lanes done'
    if (end === 'done' && (await finishBatches(request, batches, runtime))) {
      await completeBuild(build)
      return 'done'
    }
    await releaseLanes(build, { isContinued: true }, runtime)
    return 'time is up'
  } catch (error) {
    // The SQS retry and the sweep continue the build.
    await releaseLanes(build, { isContinued: false }, runtime).catch(() => undefined)
    throw error
  }
}

/** Adds the lines of the lanes. `large`: the day needs more lanes than its one. */
const runLanes = async (
  build: HeldLanes,
  { dividesAfter = DIVIDES_AFTER, timeIsUp = () => false, ...request }: BuildRequest,
  batches: Set<BatchId>,
  runtime: Runtime,
): Promise<'done' | 'large' | 'time is up'> => {
  const scope = await scopeOf(request)
  const lanes = openLanes(scope, build, runtime)
  const span = { from: BEGINNING, before: scope.before, pageSize: LINES_PER_CHUNK }
  const pages = unsettledPages(build.provider, span)
  const load = (page: readonly Reference[]) => loadCandidates(page.filter(lanes.isOwn))
  try {
    for await (const candidates of prefetch(pages, load)) {
      const isLarge = build.lanes === 1 && lanes.countAdded() >= dividesAfter
      if (isLarge && candidates.length > 0) {
        await lanes.flush()
        return 'large'
      }
      await lanes.add(candidates)
      if (timeIsUp()) {
        await lanes.flush()
        return 'time is up'
      }
    }
    await lanes.flush()
    return 'done'
  } finally {
    await lanes.settle()
    for (const id of lanes.batches) batches.add(id)
  }
}

const scopeOf = async ({
  provider,
  date,
  linesMax = LINES_MAX,
}: BuildRequest): Promise<BuildScope> => {
  const [settings, progress] = await Promise.all([findProvider(provider), findSweepProgress()])
  return {
    provider,
    date,
    linesMax,
    before: startOf(date),
    feeSchedule: settings?.feeSchedule ?? null,
    sweptBefore: sweptBefore(progress, provider),
  }
}

/**
 * Finishes the batches without reports: open, or left by a run that ended after sealing.
 * @returns false if the time was up first
 */
const finishBatches = async (
  { provider, date, timeIsUp = () => false }: BuildRequest,
  batches: Set<BatchId>,
  runtime: Runtime,
): Promise<boolean> => {
  const unfinished = new Set(batches)
  for (const { id, reportedAt } of await listBatchesOfDay(provider, date)) {
    if (reportedAt) unfinished.delete(id)
    else unfinished.add(id)
  }
  for (const id of unfinished) {
    await finishBatch(id, runtime)
    batches.add(id)
    if (timeIsUp()) return false
  }
  return true
}

/** A batch read takes at most 100 items. */
const DEBITS_PER_READ = 100

/** Reads debits concurrently, in their order. */
const loadCandidates = async (references: readonly Reference[]): Promise<Candidate[]> =>
  (await Promise.all(groupsOf(references, DEBITS_PER_READ).map(loadGroup))).flat()

const loadGroup = async (references: readonly Reference[]): Promise<Candidate[]> => {
  const debits = [...(await findDebits(references, logUnreadable('build-batch'))).values()]
  const lines = await findLines(debits)
  return debits.map((debit) => ({ debit, settled: lines.get(debit.facts.reference) }))
}
