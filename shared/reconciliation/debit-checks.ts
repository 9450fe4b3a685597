import { fingerprint, requestOf } from '../domain/debits/charge.ts'
import { type Debit, type Entry, isWhole } from '../domain/debits/debit.ts'
import { isHeldBy, mayHaveHeld } from '../domain/operator/restore.ts'
import { dayOf } from '../domain/time.ts'
import { isSameRequest } from '../store/debits/charges.ts'
import { type CheckResult, checkResult, combine, notApplicable } from './findings.ts'
import { IS_OUTCOME, NEXT } from './lifecycle.ts'
import { type DebitRecord, timesOf, type Window } from './records.ts'

/** Compares a debit with the hash of its request in the claim, unless its customer was erased. Invariant 10 reports a missing claim. */
export const existsAsAccepted = ({ debit, claim }: DebitRecord): CheckResult => {
  const { facts } = debit
  if (claim?.reference !== facts.reference || !isWhole(facts))
    return { ...notApplicable, checked: 1 }
  return checkResult({
    'its facts differ from the accepted request': !isSameRequest(
      debit,
      claim,
      fingerprint(requestOf(facts)),
    ),
  })
}

const AFTER_PREFIX = /^-[0-9]{8}-[A-Z0-9]{6}$/

export const referenceIsWellFormed = ({ debit: { facts } }: DebitRecord, { prefix }: Window) => {
  const { reference } = facts
  const isReference =
    reference.startsWith(prefix) && AFTER_PREFIX.test(reference.slice(prefix.length))
  return checkResult({ 'its reference is malformed': !isReference })
}

export const claimPointsToDebit = ({ debit: { facts }, claim }: DebitRecord): CheckResult =>
  checkResult({
    "its provider's reference points to nothing": claim === undefined,
    [`its provider's reference points to ${claim?.reference}`]:
      claim !== undefined && claim.reference !== facts.reference,
  })

/** EventBridge Scheduler may be a minute late, and the sweep takes another (docs/api.md#timeouts). */
const LATE_MS = 120_000

const seconds = (milliseconds: number): string => `${Math.round(milliseconds / 1000)} s`

/** An open debit is correct before its timeout, or while a restore holds it. */
export const endsInTime = ({ debit }: DebitRecord, { now, clocks, restore }: Window) => {
  const times = timesOf(debit)
  const [begun = 0] = times
  const end = debit.history.findIndex(({ type }) => IS_OUTCOME[type])
  const endedAt = times[end]
  const isHeld =
    endedAt === undefined
      ? isHeldBy(restore, debit.facts.provider)
      : mayHaveHeld(restore, begun, endedAt) || spansRestore(debit, end)
  if (isHeld) return notApplicable
  const duration = (endedAt ?? now.getTime()) - begun
  const isLate = duration > clocks.processingSeconds * 1000 + LATE_MS
  return checkResult({
    [end < 0 ? `has no outcome after ${seconds(duration)}` : `took ${seconds(duration)}`]: isLate,
  })
}

/** Reports whether a restore, such as an earlier one, happened between the charge and the outcome. */
const spansRestore = ({ history }: Debit, end: number): boolean =>
  (history[end]?.generation ?? 1) > (history[0]?.generation ?? 1)

const pairsOf = ({ history }: Debit) =>
  history.slice(1).map(({ type: to }, index) => ({ from: history[index]?.type ?? to, to }))

/** Invariant 6 reports a second outcome. */
export const followsTheLifecycle = ({ debit }: DebitRecord): CheckResult => ({
  checked: 1,
  wrong: pairsOf(debit)
    .filter(({ from, to }) => !(IS_OUTCOME[from] && IS_OUTCOME[to]))
    .filter(({ from, to }) => !NEXT[from]?.includes(to))
    .map(({ from, to }) => `${to} follows ${from}`),
})

export const hasOneOutcome = ({ debit: { history } }: DebitRecord): CheckResult => {
  const outcomes = history.map(({ type }) => type).filter((type) => IS_OUTCOME[type])
  return checkResult({ [`has the outcomes ${outcomes.join(', ')}`]: outcomes.length > 1 })
}

/** The version counts writes: the charge, then each event, approval, request and mark. */
export const versionMatches = ({ debit }: DebitRecord): CheckResult => {
  const { history, status, version, approval, reversalRequest, settledIn, adjustedIn, erasedAt } =
    debit
  const [created, pending] = history
  const marks = [approval, reversalRequest, settledIn, adjustedIn, erasedAt].filter(
    (mark) => mark !== undefined,
  ).length
  return checkResult({
    'does not start with created and pending':
      created?.type !== 'created' || pending?.type !== 'pending',
    [`is ${status}, but its last event is ${history.at(-1)?.type}`]:
      status !== history.at(-1)?.type,
    [`was written ${version} times, but records ${history.length - 1 + marks}`]:
      version !== history.length - 1 + marks,
  })
}

/** `checkTotal` counts the totals. */
export const isCountedOnItsDay = ({ debit: { facts, history } }: DebitRecord): CheckResult => {
  const { countedOn } = facts
  const day = history[0] && dayOf(history[0].at)
  return checkResult(
    { [`is counted on ${countedOn}, not on ${day}`]: (countedOn ?? day) !== day },
    0,
  )
}

const KNOWN = /^(?:provider:.+|bank:.+|job:[a-z-]+|operator(?::.+)?)$/

const isForeign = (by: string, { facts }: Debit): boolean =>
  (by.startsWith('provider:') && by !== `provider:${facts.provider}`) ||
  (by.startsWith('bank:') && by !== `bank:${facts.bank.identifier}`)

const checkChange = (
  { at, by, requestId }: Pick<Entry, 'at' | 'by' | 'requestId'>,
  name: string,
  debit: Debit,
) =>
  checkResult({
    [`${name} has no actor`]: !KNOWN.test(by),
    [`${name} has the actor ${by}, who does not own the debit`]: isForeign(by, debit),
    [`${name} has no time`]: !(at.getTime() > 0),
    [`${name} has no request`]: !requestId,
  })

export const changesHaveActors = ({ debit }: DebitRecord): CheckResult =>
  combine([
    ...debit.history.map((entry) => checkChange(entry, entry.type, debit)),
    ...(debit.approval ? [checkChange(debit.approval, 'approval', debit)] : []),
  ])
