import { expectations } from './lifecycle.ts'
import type { Check } from './observation-index.ts'
import { linesIn, ownerIn, type RawDebit } from './raw-items.ts'
import { DAY_MS, midnightAfter, startOf } from './time-and-money.ts'

/** 23, 28: when the lines of debits are written. The reconciliation compares their contents (47). */

/** 23: a line is written together with the mark of its completed or reversed debit. */
export const linesAreOfCompletedDebits: Check = ({ debits, chunkChanges }, report) => {
  const marks = new Map<string, RawDebit>()
  for (const [reference, { changes }] of debits) {
    for (const { after, transaction } of changes) {
      if (after) marks.set(`${transaction} ${reference}`, after)
    }
  }
  for (const { before, after, transaction } of chunkChanges) {
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
  for (const [reference, { entries, lines }] of index.debits) {
    const line = lines.find(({ item }) => item.type === 'debit')
    const completedAt = entries.find(({ type }) => type === 'completed')?.at
    const date = line && index.batches.get(line.batch)?.item.date
    if (!date || completedAt === undefined) continue
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
