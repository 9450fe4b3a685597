import type { ProviderId } from '../domain/providers/provider.ts'
import type { Batch } from '../domain/settlement/batch.ts'
import { type Day, dayAfter } from '../domain/time.ts'
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
import { checkResult, guarded } from './invariants.ts'
import { type Batches, isOffsetRightly } from './offsets.ts'
import { linePages, loadLineRecords } from './read.ts'
import { noSums, withLine } from './sums.ts'
import type { Window } from './window.ts'

const HEADER_DAYS = 35
const LINE_DAYS = 2

/**
 * Checks the batches of a provider: the last 35 days, and older batches that are not final. Checks the
 * lines of the day's batches and of open batches of the two days before. The header of a sealed batch
 * is enough later, because it gets no more lines.
 * @param unpaid batches of any day that are due or failed
 */
export const checkBatches = async (
  provider: ProviderId,
  unpaid: readonly Batch[],
  window: Window,
  findings: Findings,
): Promise<void> => {
  const { date } = window
  let batches = await readBatches(provider, unpaid, window)
  // A payout between two reads shows an offset on one side only.
  if (!agree(batches)) batches = await readBatches(provider, unpaid, window)
  for (const batch of batches.known.values()) {
    if (batch.provider !== provider || batch.date > date) continue
    const of = { provider, subject: batch.id }
    if (hasLinesChecked(batch, date)) await checkLines(batch, findings)
    findings.check(26, of, () => reachesFinalStatus(batch, window))
    findings.check(26, of, () => isOffsetRightly(batch, batches))
  }
}

const hasLinesChecked = (batch: Batch, date: Day): boolean =>
  batch.date === date || (batch.status !== 'completed' && batch.date >= dayAfter(date, -LINE_DAYS))

const agree = (batches: Batches): boolean =>
  [...batches.known.values()].every(
    (batch) => guarded(() => isOffsetRightly(batch, batches)).wrong.length === 0,
  )

/** Reads the batches since the oldest one below zero, and the batches that they name. */
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
  for (const batch of await findBatches(named.filter((id) => !known.has(id)))) {
    known.set(batch.id, batch)
  }
  return { known, since }
}

const lineChecks = [
  [22, isOfItsBatch],
  [23, isOfCompleted],
  [24, addsUp],
  [27, adjustsOnce],
  [29, hasItsFee],
] as const

const checkLines = async (batch: Batch, findings: Findings): Promise<void> => {
  const { id, provider } = batch
  let sums = noSums
  for await (const lines of linePages(batch)) {
    sums = lines.reduce(withLine, sums)
    const { records, orphans } = await loadLineRecords(batch, lines)
    for (const record of records) {
      const of = { provider, subject: record.line.reference }
      for (const [number, check] of lineChecks) findings.check(number, of, () => check(record))
    }
    for (const { reference: subject } of orphans) {
      const missing = checkResult({ [`has a line in ${id}, but does not exist`]: true })
      findings.add(1, { provider, subject }, missing)
    }
  }
  findings.check(24, { provider, subject: id }, () => isSummed(batch, sums))
  findings.check(26, { provider, subject: id }, () => keepsItsLines(batch, sums))
}
