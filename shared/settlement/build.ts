import { type Debit, stateAt } from '../domain/debits/debit.ts'
import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { BatchId, Line } from '../domain/settlement/batch.ts'
import { adjustmentLine, debitLine } from '../domain/settlement/line.ts'
import { type Day, startOf } from '../domain/time.ts'
import { logUnreadable } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { findDebits } from '../store/debits/debits.ts'
import { findProvider } from '../store/providers/providers.ts'
import { type Building, findOpenBatch, listBatchesOfDay } from '../store/settlement/batches.ts'
import {
  addLines,
  countLines,
  type Entry,
  findLines,
  LINES_PER_WRITE,
} from '../store/settlement/lines.ts'
import { findSweepProgress, sweptBefore } from '../store/sweep-progress.ts'
import { unsettledPages } from '../store/work-index.ts'
import { prefetch } from './prefetch.ts'
import { sealBatch } from './seal.ts'

/**
 * Builds the batches of a provider for a day: every completed debit of the days before that has no
 * line, and an adjustment for each one that was reversed after its settlement. A debit is marked
 * in the write of its line, so a second run, or two at once, settle nothing twice. The next run
 * continues one that was cut off.
 */

type BuildRequest = { provider: ProviderId; date: Day; linesMax?: number }

/** Ids of the batches, and whether nothing was left when the time of the run was over. */
export type BuildResult = { batches: BatchId[]; isDone: boolean }

/** A read of many items takes a hundred. */
export const DEBITS_PER_READ = 2 * LINES_PER_WRITE

/**
 * The lines of one batch. The sums and the reports of so many take about half a minute, far inside
 * the time that a function has left after its run; a larger day has several batches.
 */
const LINES_MAX = 200_000

/** Nothing was completed before. */
const BEGINNING = new Date(0)

export const buildBatch = async (
  { provider, date, linesMax = LINES_MAX }: BuildRequest,
  runtime: Runtime,
  isOver: () => boolean,
): Promise<BuildResult> => {
  const before = startOf(date)
  const [settings, progress] = await Promise.all([findProvider(provider), findSweepProgress()])
  const place = {
    provider,
    date,
    before,
    feeSchedule: settings?.feeSchedule ?? null,
    sweptBefore: progress ? sweptBefore(progress) : BEGINNING,
  }
  const batches = new Set<BatchId>()
  const state = (isDone: boolean): BuildResult => ({ batches: [...batches], isDone })
  let open = await findOpen(place, runtime)
  const pages = unsettledPages(provider, { from: BEGINNING, before, pageSize: DEBITS_PER_READ })
  // The next debits are read while the lines of these are written.
  for await (const candidates of prefetch(pages, (page) => candidatesOf(page))) {
    for (let n = 0; n < candidates.length; ) {
      const room = Math.max(0, Math.min(LINES_PER_WRITE, linesMax - open.count))
      open = await addAll(open, candidates.slice(n, n + room), place, runtime)
      n += room
      if (!open.isNew) batches.add(open.batch.id)
      if (open.count < linesMax) continue
      await sealBatch(open.batch.id, runtime)
      open = await findOpen(place, runtime)
    }
    if (isOver()) return state(false)
  }
  if (!open.isNew) batches.add(open.batch.id)
  for (const id of await findUnfinished(provider, date)) batches.add(id)
  for (const id of batches) {
    await sealBatch(id, runtime)
    if (isOver()) return state(false)
  }
  return state(true)
}

/** A run that ended after it had sealed a batch has left it to be summed and reported. */
const findUnfinished = async (provider: ProviderId, date: Day): Promise<BatchId[]> => {
  const batches = await listBatchesOfDay(provider, date)
  return batches.flatMap(({ id, reportedAt }) => (reportedAt ? [] : [id]))
}

type Place = Parameters<typeof findOpenBatch>[0] & { before: Date; sweptBefore: Date }

/** The batch that takes lines, and how many it has. */
type Open = Building & { count: number }

/** Lines are counted where a run begins or continues, so no line costs another write. */
const findOpen = async (place: Place, runtime: Runtime): Promise<Open> => {
  const building = await findOpenBatch(place, runtime)
  return { ...building, count: building.isNew ? 0 : await countLines(building.batch.id) }
}

/** A debit that waits, and its line where it is settled already. */
type Candidate = { debit: Debit; settled: Line | undefined }

const candidatesOf = async (references: readonly Reference[]): Promise<Candidate[]> => {
  const debits = [...(await findDebits(references, logUnreadable('build-batch'))).values()]
  const reversed = debits.flatMap(({ facts, settledIn }) =>
    settledIn ? [{ batch: settledIn, reference: facts.reference }] : [],
  )
  const lines = await findLines(reversed)
  return debits.map((debit) => ({ debit, settled: lines.get(debit.facts.reference) }))
}

/** What an index shows late, or another run has done, has no line to be written. */
const entriesFor = ({ batch }: Building, candidates: readonly Candidate[], before: Date): Entry[] =>
  candidates.flatMap(({ debit, settled }) => {
    const { status, settledIn, adjustedIn } = debit
    if (stateAt(debit).updatedAt >= before) return []
    if (status === 'completed' && !settledIn) {
      return [{ debit, line: debitLine(debit, batch.feeSchedule) }]
    }
    // Only a later batch takes back what this one gives.
    const isReversal = status === 'reversed' && settled && !adjustedIn && settledIn !== batch.id
    return isReversal ? [{ debit, line: adjustmentLine(settled) }] : []
  })

const addAll = async (
  open: Open,
  candidates: readonly Candidate[],
  place: Place,
  runtime: Runtime,
): Promise<Open> => {
  let into = open
  let entries = entriesFor(into, candidates, place.before)
  while (entries.length > 0) {
    const { sweptBefore } = place
    const added = await addLines(into, { entries, sweptBefore }, runtime)
    switch (added.kind) {
      case 'added':
        return { ...into, isNew: false, count: into.count + entries.length }
      case 'not open':
        into = await findOpen(place, runtime)
        // Lines follow the schedule of their batch.
        entries = entriesFor(into, candidates, place.before)
        break
      case 'changed': {
        const changed = new Set(added.references)
        entries = entries.filter(({ line }) => !changed.has(line.reference))
      }
    }
  }
  return into
}
