import type { DebitEventName } from '../../../shared/domain/debits/lifecycle.ts'
import type { RunSetup } from '../engine/observations.ts'
import { expectations } from './lifecycle.ts'
import type {
  BatchLine,
  Check,
  DebitHistory,
  ObservationIndex,
  Reporter,
} from './observation-index.ts'
import { ownerIn, type RawBatch, type RawDebit } from './raw-items.ts'
import { linesIn } from './raw-lines.ts'
import { DAY_MS, dayOf, HOUR_MS, midnightAfter, startOf } from './time-and-money.ts'

/** 22, 23, 27, 28: the lines of debits and their batches. */

/** Settlement runs start at 00:00, 00:20 and 01:00. */
const RUNS_MS = 2 * HOUR_MS

/** Returns the last midnight without faults; 0 for none. */
const lastNight = ({ isHealthy, startedAt, healedAt, endedAt }: RunSetup): number => {
  const midnight = Math.floor((endedAt - RUNS_MS) / DAY_MS) * DAY_MS
  return midnight >= (isHealthy ? startedAt : healedAt) ? midnight : 0
}

const timeOf = ({ entries }: DebitHistory, type: DebitEventName): number | undefined =>
  entries.find((entry) => entry.type === type)?.at

const lineOf = ({ lines }: DebitHistory, type: string): BatchLine | undefined =>
  lines.find(({ item }) => item.type === type)

/** A debit has at most one line of a type, and names its batch and chunk. */
const checkLine = (
  { item: { reference }, lines }: DebitHistory,
  type: 'debit' | 'adjustment',
  mark: string | undefined,
  report: Reporter,
): void => {
  const [line, ...others] = lines.filter(({ item }) => item.type === type)
  if (others.length > 0) report(reference, `has several lines of type ${type}`)
  if (line?.mark !== mark) {
    report(reference, `names ${mark}, but its line of type ${type} is in ${line?.mark}`)
  }
}

/** 22: a completed debit has one line, in a batch of its provider. */
export const debitsAreSettledOnce: Check = (index, report) => {
  const night = lastNight(index.observations.setup)
  for (const [reference, history] of index.debits) {
    const { item } = history
    checkLine(history, 'debit', item.settledIn, report)
    for (const { batch } of history.lines) {
      const header = index.batches.get(batch)?.item
      const isOwn = header?.provider === item.provider && header.currency === 'GHS'
      if (!isOwn) report(reference, `has a line in ${batch} of ${header?.provider}`)
    }
    const completedAt = timeOf(history, 'completed') ?? Number.POSITIVE_INFINITY
    const needsLine = expectations[item.status].settlement === 'line'
    if (!lineOf(history, 'debit') && needsLine && completedAt < night) {
      report(reference, `was completed on ${dayOf(completedAt)}, but has no line`)
    }
  }
  for (const { item, batch } of index.lines) {
    if (!index.debits.has(item.reference)) {
      report(item.reference, `has a line in ${batch}, but does not exist`)
    }
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
  for (const { before, after, transaction } of index.chunkChanges) {
    if (before || !after) continue
    const mark = `${ownerIn(after.pk)}#${ownerIn(after.sk)}`
    for (const { reference, type } of linesIn(after)) {
      const debit = marks.get(`${transaction} ${reference}`)
      const settlement = debit && expectations[debit.status].settlement
      const isMarked =
        type === 'debit'
          ? settlement === 'line' && debit?.settledIn === mark
          : settlement === 'adjustment' && debit?.adjustedIn === mark
      if (!isMarked) report(reference, `got a line in ${mark} while ${debit?.status}`)
    }
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
    checkLine(history, 'adjustment', item.adjustedIn, report)
    const [line, adjustment] = [lineOf(history, 'debit'), lineOf(history, 'adjustment')]
    const [settled, later] = [line, adjustment].map((one) => index.batches.get(one?.batch ?? ''))
    const isAdjustable = expectations[item.status].settlement === 'adjustment'
    if (adjustment && !isAdjustable) {
      report(reference, `is ${item.status}, but has an adjustment`)
    }
    if (line && adjustment && settled && later) {
      const isLater = place(later.item) > place(settled.item)
      if (!isLater) report(reference, `has an adjustment before ${settled.item.id}`)
      if (!isOpposite(line, adjustment)) report(reference, 'has an adjustment with other sums')
    } else if (adjustment) report(reference, 'has an adjustment without a line')
    else if (settled && isAdjustable) {
      const isOverdue =
        (timeOf(history, 'reversed') ?? night) < night && startOf(settled.item.date) < night
      if (isOverdue) report(reference, 'was reversed after settlement, but has no adjustment')
    }
  }
}

/** 28: a debit is settled by the first night after its completion. */
export const debitsAreSettledInTime: Check = (index, report) => {
  const { setup } = index.observations
  /** The days that an operator settled manually. */
  const requested = new Set<unknown>(
    index.operatorCalls.flatMap(({ noun, options }) =>
      noun === 'settlement' ? [options.date] : [],
    ),
  )
  for (const [reference, history] of index.debits) {
    const line = lineOf(history, 'debit')
    const completedAt = timeOf(history, 'completed')
    const date = line && index.batches.get(line.batch)?.item.date
    if (!date || completedAt === undefined) continue
    if (line.item.completedAt !== completedAt) {
      report(reference, `has a line of ${new Date(line.item.completedAt).toISOString()}`)
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
