import type { Debit } from '../domain/debits/debit.ts'
import type { Line } from '../domain/settlement/batch.ts'
import { type CheckResult, checkResult, notApplicable } from './invariants.ts'
import { type SettledRecord, timeOf } from './related.ts'
import type { Window } from './window.ts'

/** What became of the money of a debit, as far as the debit itself says. */

/** Completed and still so, without a line: right until a run could have seen it. */
const isOverdue = (debit: Debit, { settledBefore }: Window): boolean => {
  const completedAt = timeOf(debit, 'completed')
  const waits = debit.status === 'completed' && debit.settledIn === undefined
  return waits && completedAt !== undefined && completedAt < settledBefore
}

/** One that was reversed before a run came needs no line. */
export const isSettledOnce = ({ debit, line }: SettledRecord, terms: Window): CheckResult => {
  if (timeOf(debit, 'completed') === undefined) return notApplicable
  return checkResult({
    'is completed, but no run has settled it': isOverdue(debit, terms),
    [`is settled in ${debit.settledIn}, which has no line for it`]:
      debit.settledIn !== undefined && line === undefined,
  })
}

/** Only the settled mark of a debit that never was completed; lines are seen from their batch. */
export const isSettledRightly = ({ debit }: SettledRecord): CheckResult => {
  if (debit.settledIn === undefined) return notApplicable
  return checkResult({
    [`is ${debit.status}, but settled in ${debit.settledIn}`]:
      timeOf(debit, 'completed') === undefined,
  })
}

/** A line that is missing is for invariant 22. */
export const keepsItsAmount = ({ debit, line }: SettledRecord): CheckResult => {
  if (timeOf(debit, 'completed') === undefined) return notApplicable
  return checkResult({
    [`has ${debit.facts.amount} pesewas, but was settled with ${line?.gross}`]:
      line !== undefined && line.gross !== debit.facts.amount,
  })
}

/** Reversed after its settlement, without the line taken back: right until a run could see it. */
export const isAdjustedOnce = (seen: SettledRecord, { settledBefore }: Window): CheckResult => {
  const { debit, line, adjustment } = seen
  const { settledIn, adjustedIn, status } = debit
  const reversedAt = timeOf(debit, 'reversed')
  if (adjustedIn === undefined && (settledIn === undefined || reversedAt === undefined)) {
    return notApplicable
  }
  if (adjustedIn === undefined) {
    const isLate = reversedAt !== undefined && reversedAt < settledBefore
    return checkResult({ 'is reversed, but no run has adjusted it': isLate })
  }
  return checkResult({
    [`is ${status}, but adjusted in ${adjustedIn}`]: status !== 'reversed',
    [`is adjusted in ${adjustedIn}, but was never settled`]: settledIn === undefined,
    [`is adjusted in ${adjustedIn}, before ${settledIn}`]:
      settledIn !== undefined && !isLater(adjustedIn, settledIn),
    [`is adjusted in ${adjustedIn}, which has no line for it`]: adjustment === undefined,
    [`is adjusted in ${adjustedIn} with other sums`]:
      line !== undefined && adjustment !== undefined && !isOpposite(adjustment, line),
  })
}

const dateOf = (batch: string): string => batch.split('-')[1] ?? ''

/** A day may have several batches: another one is later, if its day is not earlier. */
const isLater = (one: string, than: string): boolean => one !== than && dateOf(one) >= dateOf(than)

/** A sum of nothing has no sign. */
export const isOpposite = (one: Line, other: Line): boolean =>
  one.gross + other.gross === 0 && one.fee + other.fee === 0 && one.net + other.net === 0
