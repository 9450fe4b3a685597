import type { Debit, Entry } from '../domain/debits/debit.ts'
import { isHeldBy } from '../domain/operator/restore.ts'
import { type CheckResult, checkResult, combine, notApplicable } from './invariants.ts'
import { type DebitRecord, timesOf } from './related.ts'
import type { Window } from './window.ts'

/** A debit's history, walked by a table of its own. */

const OUTCOMES: ReadonlySet<string> = new Set(['completed', 'failed'])

/**
 * The clock of a debit may be a minute late to ring (hazard F33), and where it does not ring at
 * all the sweep comes within another.
 */
const LATE_MS = 120_000

const seconds = (milliseconds: number): string => `${Math.round(milliseconds / 1000)} s`

/** Open debits are right as long as their clock runs, or a restore holds their timeouts. */
export const endsInTime = (
  { debit }: DebitRecord,
  { now, clocks, restore }: Window,
): CheckResult => {
  const times = timesOf(debit)
  const end = debit.history.findIndex(({ type }) => OUTCOMES.has(type))
  if (wasHeld(debit, end) || (end < 0 && isHeldBy(restore, debit.facts.provider)))
    return notApplicable
  const took = (times[end] ?? now.getTime()) - (times[0] ?? 0)
  const isLate = took > clocks.processingSeconds * 1000 + LATE_MS
  return checkResult({
    [end < 0 ? `has no outcome after ${seconds(took)}` : `took ${seconds(took)}`]: isLate,
  })
}

/** Whether the outcome was written after a restore, and the charge before it. */
const wasHeld = ({ history }: Debit, end: number): boolean =>
  (history[end]?.generation ?? 1) > (history[0]?.generation ?? 1)

const AFTER: Record<string, readonly string[]> = {
  created: ['pending'],
  pending: ['processing', 'completed', 'failed'],
  processing: ['completed', 'failed'],
  completed: ['reversed'],
  failed: [],
  reversed: [],
}

const pairsOf = ({ history }: Debit): [string, string][] =>
  history.slice(1).map(({ type }, n) => [history[n]?.type ?? '', type])

/** A second outcome is for invariant 6. */
export const followsTheLifecycle = ({ debit }: DebitRecord): CheckResult => ({
  checked: 1,
  wrong: pairsOf(debit)
    .filter(([from, to]) => !(OUTCOMES.has(from) && OUTCOMES.has(to)))
    .filter(([from, to]) => !AFTER[from]?.includes(to))
    .map(([from, to]) => `${to} follows ${from}`),
})

export const hasOneOutcome = ({ debit: { history } }: DebitRecord): CheckResult => {
  const outcomes = history.map(({ type }) => type).filter((type) => OUTCOMES.has(type))
  return checkResult({ [`has the outcomes ${outcomes.join(', ')}`]: outcomes.length > 1 })
}

/**
 * Every write counts in the version: the charge is the first, and each one after it has left an
 * event, the customer's approval, or the mark of a settlement.
 */
export const versionMatches = ({ debit }: DebitRecord): CheckResult => {
  const { history, status, version, approval, settledIn, adjustedIn } = debit
  const [created, pending] = history
  const marks = [approval, settledIn, adjustedIn].filter((mark) => mark !== undefined).length
  return checkResult({
    'does not begin with created and pending':
      created?.type !== 'created' || pending?.type !== 'pending',
    [`is ${status}, but its last event is ${history.at(-1)?.type}`]:
      status !== history.at(-1)?.type,
    [`was written ${version} times, but shows ${history.length - 1 + marks}`]:
      version !== history.length - 1 + marks,
  })
}

const KNOWN = /^(?:provider:.+|bank:.+|job:[a-z-]+|operator(?::.+)?)$/

const isStranger = (by: string, { facts }: Debit): boolean =>
  (by.startsWith('provider:') && by !== `provider:${facts.provider}`) ||
  (by.startsWith('bank:') && by !== `bank:${facts.bank.identifier}`)

const isTold = (entry: Pick<Entry, 'at' | 'by' | 'requestId'>, what: string, debit: Debit) =>
  checkResult({
    [`${what} has no actor`]: !KNOWN.test(entry.by),
    [`${what} was made by ${entry.by}, which does not own the debit`]: isStranger(entry.by, debit),
    [`${what} has no time`]: !(entry.at.getTime() > 0),
    [`${what} has no request id`]: entry.requestId === '',
  })

export const hasActor = ({ debit }: DebitRecord): CheckResult =>
  combine([
    ...debit.history.map((entry) => isTold(entry, entry.type, debit)),
    ...(debit.approval ? [isTold(debit.approval, 'approval', debit)] : []),
  ])
