import type { RunSetup } from '../engine/observations.ts'
import type { Check, Reporter } from './invariant.ts'
import type { BatchLine, DebitHistory, ObservationIndex } from './observation-index.ts'
import type { Entry, RawBatch, RawDebit } from './raw-items.ts'
import { membersOf } from './reply.ts'
import { DAY_MS, dayOf, HOUR_MS, midnightAfter, startOf } from './time-and-money.ts'

/** 22, 23, 27, 28: the lines of debits and their batches. */

/** Settlement runs start at 00:00, 00:20 and 01:00. */
const RUNS_MS = 2 * HOUR_MS

/** Returns the last midnight without faults; 0 for none. */
const lastNight = ({ isHealthy, startedAt, healedAt, endedAt }: RunSetup): number => {
  const midnight = Math.floor((endedAt - RUNS_MS) / DAY_MS) * DAY_MS
  return midnight >= (isHealthy ? startedAt : healedAt) ? midnight : 0
}

const timeOf = ({ entries }: DebitHistory, type: string): number | undefined =>
  entries.find((entry: Entry) => entry.type === type)?.at

const linesOf = ({ lines }: DebitHistory, type: string): BatchLine[] =>
  lines.filter(({ item }) => item.type === type)

/** 22: a completed debit has one line, in a batch of its provider. */
export const debitsAreSettledOnce: Check = (index, report) => {
  const night = lastNight(index.observations.setup)
  for (const [reference, history] of index.debits) {
    const { item } = history
    const lines = linesOf(history, 'debit')
    const [line] = lines
    if (lines.length > 1) report(reference, `has ${lines.length} lines`)
    if (line?.batch !== item.settledIn) {
      report(reference, `names ${item.settledIn}, but its line is in ${line?.batch}`)
    }
    for (const { batch } of history.lines) {
      const header = index.batches.get(batch)?.item
      const isOwn = header?.provider === item.provider && header.currency === 'GHS'
      if (!isOwn) report(reference, `has a line in ${batch} of ${header?.provider}`)
    }
    const completedAt = timeOf(history, 'completed') ?? Number.POSITIVE_INFINITY
    if (!line && item.status === 'completed' && completedAt < night) {
      report(reference, `was completed on ${dayOf(completedAt)}, but has no line`)
    }
  }
  for (const { item, batch } of index.lines) {
    if (!index.debits.has(item.reference))
      report(item.reference, `has a line in ${batch}, but does not exist`)
  }
}

/** Returns the debits after each transaction. */
const marksIn = ({ debits }: ObservationIndex): Map<string, RawDebit> => {
  const marks = new Map<string, RawDebit>()
  for (const [reference, { changes }] of debits) {
    for (const { after, transaction } of changes) {
      if (after) marks.set(`${transaction} ${reference}`, after)
    }
  }
  return marks
}

/** 23: a line is written together with the mark of its completed or reversed debit. */
export const linesAreOfCompletedDebits: Check = (index, report) => {
  const marks = marksIn(index)
  for (const { before, after, transaction } of index.lineChanges) {
    if (before || !after) continue
    const { reference, type, pk } = after
    const debit = marks.get(`${transaction} ${reference}`)
    const batch = pk.slice('BATCH#'.length)
    const isMarked =
      type === 'debit'
        ? debit?.status === 'completed' && debit.settledIn === batch
        : debit?.status === 'reversed' && debit.adjustedIn === batch
    if (!isMarked) report(reference, `got a line in ${batch} while ${debit?.status}`)
  }
  for (const [reference, history] of index.debits) {
    const wasCompleted = timeOf(history, 'completed') !== undefined
    if (history.lines.length > 0 && !wasCompleted) report(reference, 'has a line, never completed')
  }
}

const place = ({ date, n }: RawBatch): number => startOf(date) + n

/** Adds, because -0 differs from 0. */
const isOpposite = (one: BatchLine, other: BatchLine): boolean =>
  one.item.gross + other.item.gross === 0 &&
  one.item.fee + other.item.fee === 0 &&
  one.item.net + other.item.net === 0

/** 27: a debit reversed after settlement has one adjustment, in a later batch. */
export const reversalsAreAdjustedOnce: Check = (index, report) => {
  const night = lastNight(index.observations.setup)
  for (const [reference, history] of index.debits) {
    const { item } = history
    const [line] = linesOf(history, 'debit')
    const adjustments = linesOf(history, 'adjustment')
    const [adjustment] = adjustments
    if (adjustments.length > 1) report(reference, `has ${adjustments.length} adjustments`)
    if (adjustment?.batch !== item.adjustedIn) {
      report(reference, `names ${item.adjustedIn}, but its adjustment is in ${adjustment?.batch}`)
    }
    const settled = line && index.batches.get(line.batch)?.item
    if (adjustment) checkAdjustment(history, { line, adjustment, settled, index }, report)
    else if (settled && item.status === 'reversed') {
      const isOverdue =
        (timeOf(history, 'reversed') ?? night) < night && startOf(settled.date) < night
      if (isOverdue) report(reference, 'was reversed after settlement, but has no adjustment')
    }
  }
}

type Adjustment = {
  line: BatchLine | undefined
  adjustment: BatchLine
  settled: RawBatch | undefined
  index: ObservationIndex
}

const checkAdjustment = (
  { item }: DebitHistory,
  { line, adjustment, settled, index }: Adjustment,
  report: Reporter,
): void => {
  const later = index.batches.get(adjustment.batch)?.item
  if (item.status !== 'reversed') report(item.reference, `is ${item.status}, but has an adjustment`)
  if (!line || !settled || !later) {
    report(item.reference, 'has an adjustment without a line')
    return
  }
  if (place(later) <= place(settled))
    report(item.reference, `has an adjustment before ${settled.id}`)
  if (!isOpposite(line, adjustment)) report(item.reference, 'has an adjustment with other sums')
}

/** Returns the days that an operator settled manually. */
const requestedDays = ({ observations }: ObservationIndex): Set<unknown> =>
  new Set(
    observations.calls.flatMap(({ name, sent }) => {
      if (name !== 'manage-settlement') return []
      return [membersOf(membersOf(sent).options).date]
    }),
  )

/** 28: a debit is settled by the first night after its completion. */
export const debitsAreSettledInTime: Check = (index, report) => {
  const { setup } = index.observations
  const requested = requestedDays(index)
  for (const [reference, history] of index.debits) {
    const [line] = linesOf(history, 'debit')
    const completedAt = timeOf(history, 'completed')
    const date = line && index.batches.get(line.batch)?.item.date
    if (!date || completedAt === undefined) continue
    if (Date.parse(line.item.completedAt) !== completedAt) {
      report(reference, `has a line of ${line.item.completedAt}`)
    }
    if (completedAt >= startOf(date)) report(reference, `is settled on its own day, ${date}`)
    const first = midnightAfter(completedAt)
    const latest = setup.isHealthy
      ? first
      : Math.max(first, midnightAfter(setup.healedAt - 1)) + DAY_MS
    if (startOf(date) > latest && !requested.has(date)) report(reference, `waited until ${date}`)
  }
  for (const [id, { item }] of index.batches) {
    const isEarly = Date.parse(item.createdAt) + 2 * setup.skew < startOf(item.date)
    if (isEarly && !requested.has(item.date)) report(id, `was opened before ${item.date}`)
  }
}
