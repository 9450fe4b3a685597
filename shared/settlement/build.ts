import { type Debit, stateAt } from '../domain/debit.ts'
import type { PartnerId } from '../domain/partner.ts'
import type { Reference } from '../domain/reference.ts'
import { type BatchId, type Day, isOpenBatch, type Line, startOf } from '../domain/settlement.ts'
import { adjustmentLine, debitLine } from '../domain/settlement-line.ts'
import type { Runtime } from '../runtime.ts'
import { findDebits } from '../store/debits.ts'
import { findPartner } from '../store/partners.ts'
import { addLines, type Entry, findLines, LINES_PER_WRITE } from '../store/settlement-lines.ts'
import {
  type Building,
  findBatch,
  findOpenBatch,
  listBatchesOfDay,
  replaceBatch,
} from '../store/settlements.ts'
import { findSweepProgress, sweptBefore } from '../store/sweep-progress.ts'
import { unsettledPages } from '../store/watch.ts'
import { ahead } from './ahead.ts'
import { finishBatch } from './finish.ts'

/**
 * Builds the batch of a partner for a day: every completed debit of the days before that has no
 * line, and the taking back of those that were reversed after their settlement. A debit's own mark
 * is written with its line, so a second run, or two at once, settle nothing twice; a run that was
 * cut off is taken up by the next.
 */

type Wanted = { partner: PartnerId; date: Day }

type Place = Parameters<typeof findOpenBatch>[0] & { before: Date; sweptBefore: Date }

/** Its batches, and whether nothing was left when its time was over. */
export type Built = { batches: BatchId[]; isDone: boolean }

/** A read of many items takes a hundred. */
export const DEBITS_PER_READ = 2 * LINES_PER_WRITE

/** Nothing was completed before. */
const BEGINNING = new Date(0)

export const buildBatch = async (
  { partner, date }: Wanted,
  runtime: Runtime,
  isOver: () => boolean,
): Promise<Built> => {
  const before = startOf(date)
  const [provider, progress] = await Promise.all([findPartner(partner), findSweepProgress()])
  const place = {
    partner,
    date,
    before,
    feeSchedule: provider?.feeSchedule ?? null,
    sweptBefore: progress ? sweptBefore(progress) : BEGINNING,
  }
  const batches = new Set<BatchId>()
  let building = await findOpenBatch(place, runtime)
  const pages = unsettledPages(partner, { from: BEGINNING, before, pageSize: DEBITS_PER_READ })
  // The next debits are read while the lines of these are written.
  for await (const candidates of ahead(pages, (page) => candidatesOf(page))) {
    for (let n = 0; n < candidates.length; n += LINES_PER_WRITE) {
      const some = candidates.slice(n, n + LINES_PER_WRITE)
      building = await addAll(building, some, place, runtime)
    }
    if (!building.isNew) batches.add(building.batch.id)
    if (isOver()) {
      await leaveToAnother(building, runtime)
      return { batches: [...batches], isDone: false }
    }
  }
  if (!building.isNew) batches.add(building.batch.id)
  for (const id of await findUnfinished({ partner, date })) batches.add(id)
  for (const id of batches) await finishBatch(id, runtime)
  return { batches: [...batches], isDone: true }
}

/** A run that ended after it had sealed a batch has left it to be summed and reported. */
const findUnfinished = async ({ partner, date }: Wanted): Promise<BatchId[]> => {
  const batches = await listBatchesOfDay(partner, date)
  return batches.flatMap(({ id, reportedAt }) => (reportedAt ? [] : [id]))
}

/** The table's stream has it taken up again; should that be lost, the sweep does. */
const leaveToAnother = async ({ batch, isNew }: Building, runtime: Runtime): Promise<void> => {
  if (isNew) return
  const now = await findBatch(batch.id)
  if (now && isOpenBatch(now)) await replaceBatch(now, { ...now, runs: now.runs + 1 }, runtime)
}

/** A debit that waits, and its line where it is settled already. */
type Candidate = { debit: Debit; settled: Line | undefined }

const candidatesOf = async (references: readonly Reference[]): Promise<Candidate[]> => {
  const debits = [...(await findDebits(references)).values()]
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
  building: Building,
  candidates: readonly Candidate[],
  place: Place,
  runtime: Runtime,
): Promise<Building> => {
  let into = building
  let left = entriesFor(into, candidates, place.before)
  while (left.length > 0) {
    const added = await addLines(into, { entries: left, sweptBefore: place.sweptBefore }, runtime)
    switch (added.kind) {
      case 'added':
        return { ...into, isNew: false }
      case 'not open':
        into = await findOpenBatch(place, runtime)
        // Lines follow the schedule of their batch.
        left = entriesFor(into, candidates, place.before)
        break
      case 'changed': {
        const changed = new Set(added.references)
        left = left.filter(({ line }) => !changed.has(line.reference))
      }
    }
  }
  return into
}
