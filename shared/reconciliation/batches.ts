import type { BatchId } from '../domain/ids.ts'
import { formatAmount } from '../domain/money.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Batch } from '../domain/settlement/batch.ts'
import { type Day, dayAfter, dayOf } from '../domain/time.ts'
import { groupsOf, mapConcurrent } from '../store/concurrent.ts'
import {
  findBatch,
  findBatches,
  listBatchesFrom,
  listBelowZero,
} from '../store/settlement/batches.ts'
import * as checks from './batch-checks.ts'
import { type CheckResult, checkResult, guarded, notApplicable } from './findings.ts'
import type { PartScope, Task } from './part.ts'
import { linePages, loadLineRecords } from './read.ts'
import type { Window } from './records.ts'
import { repeatsDebit } from './settled.ts'
import { noSums, whole, withLine } from './sums.ts'

const HEADER_DAYS = 35
const LINE_DAYS = 2

/** Returns the first day whose batches are listed by provider; older ones are named by their ids. */
export const listedFrom = (date: Day): Day => dayAfter(date, -HEADER_DAYS)

/**
 * Checks the batches of a provider: the last 35 days, and older batches that are not final. The header
 * of a sealed batch is enough later, because it gets no more lines.
 * @returns the tasks that check the lines of batches of the day or sealed since it began, and of open batches
 *   of the two days before
 */
export const checkBatches = async (
  { unpaid: ids }: { unpaid: readonly BatchId[] },
  { provider, window, findings }: PartScope,
): Promise<Task[]> => {
  const { date } = window
  const unpaid = (await findBatches(ids)).filter((batch) => batch.provider === provider)
  let batches = await readBatches(provider, unpaid, window)
  // A payout between two reads shows an offset on one side only.
  if (!agree(batches)) batches = await readBatches(provider, unpaid, window)
  const checked = [...batches.known.values()].filter(
    (batch) => batch.provider === provider && batch.date <= date,
  )
  for (const batch of checked) {
    const of = { provider, subject: batch.id }
    findings.check(26, of, () => checks.reachesFinalStatus(batch, window))
    findings.check(26, of, () => isOffsetRightly(batch, batches))
  }
  return checked
    .filter((batch) => hasLinesChecked(batch, window))
    .map(({ id }) => ({ type: 'lines', batch: id }))
}

const hasLinesChecked = (batch: Batch, { date, from }: Window): boolean =>
  batch.date === date ||
  (batch.sealedAt && batch.sealedAt >= from) ||
  (batch.status !== 'completed' && batch.date >= dayAfter(date, -LINE_DAYS))

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
  const belowZero = await findBatches(await listBelowZero(provider, now))
  const days = [listedFrom(date), ...belowZero.map((batch) => batch.date)]
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
  [22, checks.lineIsInItsBatch],
  [23, checks.lineIsOfCompletedDebit],
  [24, checks.lineAddsUp],
  [27, checks.adjustsOnce],
  [29, checks.lineHasFee],
  [50, ({ line, debit }: checks.LineRecord) => repeatsDebit(line, debit)],
] as const

const PAGE_SIZE = 100
const PAGES_AT_ONCE = 16

export const checkLines = async (
  { batch: id }: { batch: BatchId },
  { provider, findings }: PartScope,
): Promise<Task[]> => {
  const batch = await findBatch(id)
  if (!batch) return []
  let sums = noSums
  let earliest: Day | null = null
  for await (const lines of linePages(batch)) {
    sums = lines.reduce(withLine, sums)
    for (const day of lines.map(({ completedAt }) => dayOf(completedAt))) {
      if (earliest === null || day < earliest) earliest = day
    }
    const pages = await mapConcurrent(groupsOf(lines, PAGE_SIZE), PAGES_AT_ONCE, (page) =>
      loadLineRecords(batch, page),
    )
    for (const record of pages.flatMap(({ records }) => records)) {
      const of = { provider, subject: record.line.reference }
      for (const [number, check] of lineChecks) findings.check(number, of, () => check(record))
    }
    for (const { reference: subject } of pages.flatMap(({ orphans }) => orphans)) {
      const missing = checkResult({ [`has a line in ${id}, but does not exist`]: true })
      findings.add(1, { provider, subject }, missing)
    }
  }
  findings.check(24, { provider, subject: id }, () => checks.batchIsSumOfLines(batch, sums))
  findings.check(26, { provider, subject: id }, () => checks.batchKeepsLines(batch, sums, earliest))
  return []
}

export type Batches = {
  /** All batches of a provider since a day, some older ones, and the batches that they name. */
  known: ReadonlyMap<BatchId, Batch>
  since: Day
}

const receivedBy = (id: BatchId, { known }: Batches): bigint => {
  let sum = 0n
  for (const { offsets } of known.values()) {
    for (const { batch, amount } of offsets) if (batch === id) sum += whole(amount)
  }
  return sum
}

const isBelowZero = ({ totals }: Batch): boolean => totals !== null && totals.net < 0

const givesRightly = ({ provider, offsets }: Batch, { known }: Batches): CheckResult =>
  checkResult(
    Object.assign(
      {},
      ...offsets.map(({ batch: id, amount }) => {
        const named = known.get(id)
        return {
          [`it offsets ${id}, which does not exist`]: named === undefined,
          [`it offsets ${id} of ${named?.provider}`]:
            named !== undefined && named.provider !== provider,
          [`it offsets ${id}, which is not below zero`]: named !== undefined && !isBelowZero(named),
          [`it offsets ${id} by ${amount} pesewas`]: amount <= 0,
        }
      }),
    ),
    // The batch is counted.
    0,
  )

/** Checks the offsets that a batch below zero has received. */
const receivesRightly = (batch: Batch, batches: Batches): CheckResult => {
  const { id, status, totals, outstanding, offsetBy, paid } = batch
  const received = receivedBy(id, batches)
  const lacks = whole(totals?.net ?? 0) + received - whole(paid ?? 0)
  const last = offsetBy === null ? undefined : batches.known.get(offsetBy)
  const isNamed = last?.offsets.some((offset) => offset.batch === id) === true
  return checkResult(
    {
      [`it lacks ${formatAmount(-lacks)}, but ${formatAmount(-whole(outstanding))} is outstanding`]:
        isBelowZero(batch) && whole(outstanding) !== lacks,
      [`it is offset by ${formatAmount(received)}, but is not below zero`]:
        !isBelowZero(batch) && received !== 0n,
      [`it is ${status}, but offset by ${offsetBy}`]:
        isBelowZero(batch) && (status === 'completed') !== (offsetBy !== null || paid !== null),
      [`it is offset by ${offsetBy}, which does not name it`]: offsetBy !== null && !isNamed,
    },
    0,
  )
}

/** Checks the offsets of a batch in both directions. Only later batches offset one. */
const isOffsetRightly = (batch: Batch, batches: Batches): CheckResult => {
  const gives = givesRightly(batch, batches)
  const receives = batch.date < batches.since ? notApplicable : receivesRightly(batch, batches)
  return { checked: 0, wrong: [...gives.wrong, ...receives.wrong] }
}
