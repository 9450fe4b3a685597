import type { ProviderId } from '../domain/providers/provider.ts'
import { type Batch, type Day, dayAfter } from '../domain/settlement/batch.ts'
import { findBatches, listBatchesFrom, listBelowZero } from '../store/settlement/batches.ts'
import {
  addsUp,
  adjustsOnce,
  isOfCompleted,
  isOfItsBatch,
  isSummed,
  keepsItsLines,
  reachesFinalStatus,
} from './batch-checks.ts'
import { hasItsFee } from './fees.ts'
import type { Findings } from './findings.ts'
import { checkResult, judged } from './invariants.ts'
import { type Batches, isOffsetRightly } from './offsets.ts'
import { linePages, loadLineRecords } from './read.ts'
import { noSums, withLine } from './sums.ts'
import type { Window } from './window.ts'

/**
 * Checks the batches of a provider: those of the last 35 days by their list, and older ones that
 * are not final. A batch of the day is checked line by line, and so is each one of the two days
 * before that is not final; of the others the header is enough, since no line joins a sealed batch.
 */

const HEADER_DAYS = 35
const LINE_DAYS = 2

/** @param unpaid batches of any day that are due or failed */
export const checkBatches = async (
  provider: ProviderId,
  unpaid: readonly Batch[],
  terms: Window,
  tally: Findings,
): Promise<void> => {
  const { date } = terms
  let batches = await readBatches(provider, unpaid, terms)
  // A payment that was written between two reads shows an offset on one side only.
  if (!agree(batches)) batches = await readBatches(provider, unpaid, terms)
  for (const batch of batches.known.values()) {
    if (batch.provider !== provider || batch.date > date) continue
    const of = { provider, subject: batch.id }
    if (hasLinesChecked(batch, date)) await checkLines(batch, tally)
    tally.add(
      26,
      of,
      judged(() => reachesFinalStatus(batch, terms)),
    )
    tally.add(
      26,
      of,
      judged(() => isOffsetRightly(batch, batches)),
    )
  }
}

const hasLinesChecked = (batch: Batch, date: Day): boolean =>
  batch.date === date || (batch.status !== 'completed' && batch.date >= dayAfter(date, -LINE_DAYS))

const agree = (batches: Batches): boolean =>
  [...batches.known.values()].every(
    (batch) => judged(() => isOffsetRightly(batch, batches)).wrong.length === 0,
  )

/** Reads the batches of a provider since the oldest that is below zero, and those that they name. */
const readBatches = async (
  provider: ProviderId,
  unpaid: readonly Batch[],
  { date, now }: Window,
): Promise<Batches> => {
  const belowZero = await listBelowZero(provider, now)
  const days = [dayAfter(date, -HEADER_DAYS), ...belowZero.map((batch) => batch.date)]
  const since = days.sort()[0] ?? date
  const listed = await listBatchesFrom(provider, since)
  const known = new Map([...unpaid, ...belowZero, ...listed].map((batch) => [batch.id, batch]))
  const named = [...known.values()].flatMap(({ offsets, offsetBy }) => [
    ...offsets.map(({ batch }) => batch),
    ...(offsetBy ? [offsetBy] : []),
  ])
  const others = await findBatches(named.filter((id) => !known.has(id)))
  for (const batch of others) known.set(batch.id, batch)
  return { known, since }
}

const lineChecks = [
  [22, isOfItsBatch],
  [23, isOfCompleted],
  [24, addsUp],
  [27, adjustsOnce],
  [29, hasItsFee],
] as const

const checkLines = async (batch: Batch, tally: Findings): Promise<void> => {
  let sums = noSums
  for await (const lines of linePages(batch)) {
    sums = lines.reduce(withLine, sums)
    const { seen, orphans } = await loadLineRecords(batch, lines)
    for (const one of seen) {
      const of = { provider: batch.provider, subject: one.line.reference }
      for (const [number, check] of lineChecks)
        tally.add(
          number,
          of,
          judged(() => check(one)),
        )
    }
    for (const { reference: subject } of orphans) {
      const gone = checkResult({ [`has a line in ${batch.id}, but does not exist`]: true })
      tally.add(1, { provider: batch.provider, subject }, gone)
    }
  }
  const of = { provider: batch.provider, subject: batch.id }
  tally.add(
    24,
    of,
    judged(() => isSummed(batch, sums)),
  )
  tally.add(
    26,
    of,
    judged(() => keepsItsLines(batch, sums)),
  )
}
