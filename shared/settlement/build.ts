import { type Debit, stateAt } from '../domain/debits/debit.ts'
import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { BatchId, Line } from '../domain/settlement/batch.ts'
import { adjustmentLine, debitLine } from '../domain/settlement/line.ts'
import { type Day, startOf } from '../domain/time.ts'
import { log, logUnreadable } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { findDebits } from '../store/debits/debits.ts'
import { findProvider } from '../store/providers/providers.ts'
import { type Building, findOpenBatch, listBatchesOfDay } from '../store/settlement/batches.ts'
import { acquireLease, completeBuild, releaseLease } from '../store/settlement/build-lease.ts'
import { addLines, countLines, findLines, LINES_PER_WRITE } from '../store/settlement/lines.ts'
import { findSweepProgress, sweptBefore } from '../store/sweep-progress.ts'
import { unsettledPages } from '../store/work-index.ts'
import { prefetch } from './prefetch.ts'
import { sealBatch } from './seal.ts'

export type BuildRequest = {
  provider: ProviderId
  date: Day
  linesMax?: number
  /** Checked between pages and batches. Default: never. */
  timeIsUp?: () => boolean
}

/** The batches that got lines or reports. `isDone` is false if the run hit its time limit. */
type BuildResult = { batches: BatchId[]; isDone: boolean }

/** A batch read takes at most 100 items. */
export const DEBITS_PER_READ = 2 * LINES_PER_WRITE

/** Sums and reports of one such batch take about 30 s. A larger day has several batches. */
const LINES_MAX = 200_000

const BEGINNING = new Date(0)

/**
 * Builds the batches of a provider for a day (docs/api.md#batches): a line for every completed debit
 * of earlier days that has none, and an adjustment for every debit reversed after its settlement.
 * A line and the mark on its debit are one transaction, so repeated or concurrent runs settle a debit
 * once. The next run continues an interrupted one.
 */

export const buildBatch = async (
  { provider, date, linesMax = LINES_MAX, timeIsUp = () => false }: BuildRequest,
  runtime: Runtime,
): Promise<BuildResult> => {
  const before = startOf(date)
  const [settings, progress] = await Promise.all([findProvider(provider), findSweepProgress()])
  const scope = {
    provider,
    date,
    before,
    feeSchedule: settings?.feeSchedule ?? null,
    sweptBefore: sweptBefore(progress, provider),
  }
  const batches = new Set<BatchId>()
  const result = (isDone: boolean): BuildResult => ({ batches: [...batches], isDone })
  let open = await findOpen(scope, runtime)
  const pages = unsettledPages(provider, { from: BEGINNING, before, pageSize: DEBITS_PER_READ })
  for await (const candidates of prefetch(pages, loadCandidates)) {
    for (let index = 0; index < candidates.length; ) {
      const room = Math.max(0, Math.min(LINES_PER_WRITE, linesMax - open.count))
      open = await addCandidates(open, candidates.slice(index, index + room), scope, runtime)
      index += room
      if (!open.isNew) batches.add(open.batch.id)
      if (open.count < linesMax) continue
      await sealBatch(open.batch.id, runtime)
      open = await findOpen(scope, runtime)
    }
    if (timeIsUp()) return result(false)
  }
  if (!open.isNew) batches.add(open.batch.id)
  for (const id of await listUnreported(provider, date)) batches.add(id)
  for (const id of batches) {
    await sealBatch(id, runtime)
    if (timeIsUp()) return result(false)
  }
  return result(true)
}

/** Builds batches under a lease. @returns undefined if another builder holds the lease */
export const buildWithLease = async (request: BuildRequest, runtime: Runtime) => {
  const lease = await acquireLease(request, runtime)
  if (!lease) {
    const { provider, date } = request
    log.info('batch is being built by another run', { provider, date })
    return undefined
  }
  try {
    const result = await buildBatch(request, runtime)
    await (result.isDone ? completeBuild(lease) : releaseLease(lease, { isContinued: true }))
    return result
  } catch (error) {
    // The SQS retry and the sweep continue the build.
    await releaseLease(lease, { isContinued: false }).catch(() => undefined)
    throw error
  }
}

/** Returns the batches without reports: open, or left by a run that ended after sealing. */
const listUnreported = async (provider: ProviderId, date: Day): Promise<BatchId[]> => {
  const batches = await listBatchesOfDay(provider, date)
  return batches.flatMap(({ id, reportedAt }) => (reportedAt ? [] : [id]))
}

type BuildScope = Parameters<typeof findOpenBatch>[0] & { before: Date; sweptBefore: Date }

type Open = Building & { count: number }

/** Counts the lines once per batch and run; a stored counter would cost a write per line. */
const findOpen = async (scope: BuildScope, runtime: Runtime): Promise<Open> => {
  const building = await findOpenBatch(scope, runtime)
  return { ...building, count: building.isNew ? 0 : await countLines(building.batch.id) }
}

/** An unsettled or reversed debit, and its line if it is settled. */
type Candidate = { debit: Debit; settled: Line | undefined }

const loadCandidates = async (references: readonly Reference[]): Promise<Candidate[]> => {
  const debits = [...(await findDebits(references, logUnreadable('build-batch'))).values()]
  const reversed = debits.flatMap(({ facts, settledIn }) =>
    settledIn ? [{ batch: settledIn, reference: facts.reference }] : [],
  )
  const lines = await findLines(reversed)
  return debits.map((debit) => ({ debit, settled: lines.get(debit.facts.reference) }))
}

/** Skips debits that another run has settled and that a late index still lists. */
const entriesFor = ({ batch }: Building, candidates: readonly Candidate[], before: Date) =>
  candidates.flatMap(({ debit, settled }) => {
    const { status, settledIn, adjustedIn } = debit
    if (stateAt(debit).updatedAt >= before) return []
    if (status === 'completed' && !settledIn) {
      return [{ debit, line: debitLine(debit, batch.feeSchedule) }]
    }
    // An adjustment is never in the batch of its line.
    const isReversal = status === 'reversed' && settled && !adjustedIn && settledIn !== batch.id
    return isReversal ? [{ debit, line: adjustmentLine(settled) }] : []
  })

/** Returns the batch that got the lines: another one if a concurrent run has sealed `open`. */
const addCandidates = async (
  open: Open,
  candidates: readonly Candidate[],
  scope: BuildScope,
  runtime: Runtime,
): Promise<Open> => {
  const { before, sweptBefore } = scope
  let current = open
  let entries = entriesFor(current, candidates, before)
  while (entries.length > 0) {
    const added = await addLines(current, { entries, sweptBefore }, runtime)
    switch (added.kind) {
      case 'added':
        return { ...current, isNew: false, count: current.count + entries.length }
      case 'not open':
        current = await findOpen(scope, runtime)
        // Fees follow the schedule of the batch.
        entries = entriesFor(current, candidates, before)
        break
      case 'changed': {
        const changed = new Set(added.references)
        entries = entries.filter(({ line }) => !changed.has(line.reference))
      }
    }
  }
  return current
}
