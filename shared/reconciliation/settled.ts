import type { Debit } from '../domain/debits/debit.ts'
import type { Line } from '../domain/settlement/batch.ts'
import { type CheckResult, checkResult, combine, notApplicable } from './findings.ts'
import { EXPECTED } from './lifecycle.ts'
import { type SettledRecord, timeOf, type Window } from './records.ts'

/** Reports whether a completed debit without a line should have one. */
const isOverdue = (debit: Debit, { settledBefore }: Window): boolean => {
  const completedAt = timeOf(debit, 'completed')
  const isUnsettled = EXPECTED[debit.status].money === 'unsettled' && debit.settledIn === undefined
  return isUnsettled && completedAt !== undefined && completedAt < settledBefore
}

/** A debit that was reversed before any run needs no line. */
export const isSettledOnce = ({ debit, line }: SettledRecord, window: Window): CheckResult => {
  if (timeOf(debit, 'completed') === undefined) return notApplicable
  return checkResult({
    'is completed, but not settled': isOverdue(debit, window),
    [`is settled in ${debit.settledIn}, but has no line in it`]:
      debit.settledIn !== undefined && line === undefined,
  })
}

/** Checks the settlement mark; lines are checked by batch. */
export const isSettledRightly = ({ debit }: SettledRecord): CheckResult => {
  if (debit.settledIn === undefined) return notApplicable
  return checkResult({
    [`is settled in ${debit.settledIn}, but is ${debit.status}`]:
      timeOf(debit, 'completed') === undefined,
  })
}

/** Invariant 22 reports a missing line. */
export const keepsItsAmount = ({ debit, line }: SettledRecord): CheckResult => {
  if (timeOf(debit, 'completed') === undefined) return notApplicable
  return checkResult({
    [`has ${debit.facts.amount} pesewas, but is settled with ${line?.gross}`]:
      line !== undefined && line.gross !== debit.facts.amount,
  })
}

type Repeated = Exclude<keyof Line, 'type' | 'reference' | 'gross' | 'fee' | 'net'>

/** The members of a line that repeat its debit. Other checks compare the amounts. */
const REPEATED: Record<Repeated, (debit: Debit) => unknown> = {
  partnerReference: ({ facts }) => facts.partnerReference,
  bankReference: ({ history }) =>
    history.findLast(({ changes }) => changes.bankReference)?.changes.bankReference ?? null,
  bank: ({ facts }) => facts.bank.identifier,
  completedAt: (debit) => timeOf(debit, 'completed'),
}

/** Compares a line or an adjustment with its debit. Invariant 23 reports lines of other debits. */
export const repeatsDebit = (line: Line, debit: Debit): CheckResult => {
  if (timeOf(debit, 'completed') === undefined) return notApplicable
  const text = (value: unknown) => JSON.stringify(value)
  const differing = (Object.keys(REPEATED) as Repeated[]).map((name) => [
    `its ${line.type === 'debit' ? 'line' : 'adjustment'} has the ${name} ${text(line[name])}, not ${text(REPEATED[name](debit))}`,
    text(line[name]) !== text(REPEATED[name](debit)),
  ])
  return checkResult(Object.fromEntries(differing))
}

export const linesRepeatDebit = ({ debit, line, adjustment }: SettledRecord): CheckResult =>
  combine([line, adjustment].flatMap((one) => (one ? [repeatsDebit(one, debit)] : [])))

/** A reversal after settlement needs an adjustment by the next run. */
export const isAdjustedOnce = (record: SettledRecord, { settledBefore }: Window): CheckResult => {
  const { debit, line, adjustment } = record
  const { settledIn, adjustedIn, status } = debit
  const reversedAt = timeOf(debit, 'reversed')
  if (adjustedIn === undefined && (settledIn === undefined || reversedAt === undefined)) {
    return notApplicable
  }
  if (adjustedIn === undefined) {
    const isLate = reversedAt !== undefined && reversedAt < settledBefore
    return checkResult({ 'is reversed, but its line is not adjusted': isLate })
  }
  return checkResult({
    [`is adjusted in ${adjustedIn}, but is ${status}`]: EXPECTED[status].money !== 'reversed',
    [`is adjusted in ${adjustedIn}, but was never settled`]: settledIn === undefined,
    [`is adjusted in ${adjustedIn}, before ${settledIn}`]:
      settledIn !== undefined && !isLater(adjustedIn, settledIn),
    [`is adjusted in ${adjustedIn}, but has no line in it`]: adjustment === undefined,
    [`is adjusted in ${adjustedIn} with other amounts`]:
      line !== undefined && adjustment !== undefined && !isOpposite(adjustment, line),
  })
}

const dateOf = (batch: string): string => batch.split('-')[1] ?? ''

/** Batches of one day are not ordered by their ids. */
const isLater = (batch: string, other: string) => batch !== other && dateOf(batch) >= dateOf(other)

export const isOpposite = (one: Line, other: Line): boolean =>
  one.gross + other.gross === 0 && one.fee + other.fee === 0 && one.net + other.net === 0
