import type { DebitEventName } from '../../../shared/domain/debits/lifecycle.ts'
import type { BankQuery, RunSetup } from '../engine/observations.ts'
import { membersOf } from './calls.ts'
import { eventExpectations, expectations } from './lifecycle.ts'
import type { Check, DebitHistory, ObservationIndex, Reporter } from './observation-index.ts'
import { isRefusal } from './prompts.ts'
import type { Entry } from './raw-items.ts'
import { releaseOf } from './restores.ts'
import { HOUR_MS, MINUTE_MS } from './time-and-money.ts'

/** 4, 8, 38, 45: the outcome of a debit, its cause and its timestamps. */

const PROCESSING_MS = 10 * MINUTE_MS
const APPROVAL_MS = 5 * MINUTE_MS
/** The largest delay of a timer. */
const SCHEDULER_MS = MINUTE_MS
/**
 * Three sweeps: one that ran while the faults stopped, one misled by a late index, and one that
 * finds the debit.
 */
const SWEEPS_MS = 3 * MINUTE_MS

const typeIs =
  (expected: DebitEventName) =>
  ({ type }: Entry): boolean =>
    type === expected

const isOutcome = ({ type }: Entry): boolean => type !== 'created' && expectations[type].isOutcome

/**
 * Returns the latest end: the processing timeout and a late timer; after faults, the sweeps as
 * well.
 */
const endsBy = ({ createdAt, item }: DebitHistory, index: ObservationIndex): number => {
  const { isHealthy, isRepaired, healedAt, skew }: RunSetup = index.observations.setup
  // A restore holds the timeouts, and the repair follows debits that the sweep has missed.
  const releasedAt = releaseOf(index, item.provider)?.at
  if (isRepaired || releasedAt) return Math.max(createdAt, healedAt, releasedAt ?? 0) + HOUR_MS
  const withoutFaults = createdAt + PROCESSING_MS + SCHEDULER_MS + 2 * skew
  return isHealthy ? withoutFaults : Math.max(withoutFaults, healedAt) + SWEEPS_MS
}

export const debitsEndInTime: Check = (index, report) => {
  const { debits, observations } = index
  for (const [reference, history] of debits) {
    const end = endsBy(history, index)
    const outcome = history.entries.find(isOutcome)
    if (outcome && outcome.at > end) report(reference, `ended ${outcome.at - end} ms late`)
    if (!outcome && observations.setup.endedAt > end)
      report(reference, `is ${history.item.status} at the end`)
  }
}

const CLOCKS: Record<string, number> = {
  'Transaction timeout': APPROVAL_MS,
  'Bank processing timeout': PROCESSING_MS,
}

/** Returns the clock that a timeout names, and its start. */
export const clockOf = ({ set }: Entry, { entries, createdAt }: DebitHistory) => {
  const clock = CLOCKS[set.errorMessage ?? '']
  const isApproval = clock === APPROVAL_MS
  const since = isApproval ? entries.find(typeIs('processing'))?.at : createdAt
  return { clock, isApproval, since }
}

export const failuresHaveMessages: Check = ({ debits }, report) => {
  for (const [reference, history] of debits) {
    for (const { type, set } of history.entries) {
      const isFailure = eventExpectations[type].adds === 'error_details'
      if (
        (set.errorMessage !== undefined) !== isFailure ||
        (set.errorCode !== undefined) !== isFailure
      )
        report(reference, `${type} with the message ${set.errorMessage}`)
      if (type === 'processing' && !set.bankReference)
        report(reference, 'is processing without a bank reference')
    }
    const failed = history.entries.find(typeIs('failed'))
    if (failed?.by.startsWith('job:') && !isRefusal(failed)) checkTimeout(failed, history, report)
  }
}

const checkTimeout = (failed: Entry, debit: DebitHistory, report: Reporter) => {
  const { errorMessage, errorCode } = failed.set
  const { item } = debit
  const { clock, isApproval, since } = clockOf(failed, debit)
  if (clock === undefined || errorCode !== 'timeout') {
    report(item.reference, `timed out as ${errorCode}, ${errorMessage}`)
  } else if (since === undefined || (isApproval && item.approval)) {
    report(item.reference, 'timed out by a timeout that did not apply')
  } else if (failed.writtenAt < since + clock) {
    report(item.reference, `timed out ${since + clock - failed.writtenAt} ms early`)
  }
}

export const readsShowTimestamps: Check = ({ reads }, report) => {
  for (const { call, debit, data } of reads) {
    if (call.reply?.status !== 200) continue
    const last = debit.entries.findIndex(({ type }) => type === data.status)
    const types = new Set(debit.entries.slice(0, last + 1).map(({ type }) => type))
    const hasFailed = [...types].some((type) => eventExpectations[type].adds === 'error_details')
    const { processed_at, completed_at, error_message } = membersOf(data.response)
    const isRight =
      (processed_at !== null) === types.has('processing') &&
      (completed_at !== null) === types.has('completed') &&
      (error_message !== null) === hasFailed
    if (!isRight) report(debit.item.reference, `was read as ${data.status} with wrong timestamps`)
  }
}

const QUERY_MS = 15_000

/** 38: a bank is queried before a timeout, whatever its status. Without faults, its outcome wins. */
export const bankIsQueriedFirst: Check = (index, report) => {
  const { debits, queriesOf, observations, timeline, startOf } = index
  const { setup } = observations
  if (!setup.isQueried) return
  for (const [reference, { item, uuid, entries, changes }] of debits) {
    const failed = entries.find(typeIs('failed'))
    const isAskable = setup.endpoints.includes(item.bank.identifier)
    if (!isAskable || !failed?.by.startsWith('job:') || isRefusal(failed)) continue
    const { at = failed.writtenAt, by } =
      changes.findLast(({ before, after, by }) => {
        // A restore writes items too, without an invocation.
        return by && after?.status === 'failed' && before?.status !== 'failed'
      }) ?? {}
    const urls = timeline.recent(
      'connectorUrl',
      item.bank.identifier,
      startOf(by?.invocation, at),
      at,
    )
    if (urls.includes(undefined)) continue
    const last = queriesOf
      .get(uuid)
      ?.findLast((query) => query.at <= at && query.by === by?.invocation)
    if (!last) report(reference, 'timed out without a query to its bank')
    if (!setup.isHealthy) continue
    if (last && at - last.at > QUERY_MS) report(reference, 'timed out long after a query')
    if (last?.answer === 'completed' || last?.answer === 'failed')
      report(reference, `timed out, but its bank reported ${last.answer}`)
  }
}

/** 45: a debit that is submitted to a bank that rejects all debits fails. */
export const sandboxBanksReject: Check = ({ debits, timeline, startOf }, report) => {
  for (const [reference, { item, changes }] of debits) {
    const { after, at, by } = changes.find(({ before }) => before?.status === 'pending') ?? {}
    if (!after || !at || !by?.name.startsWith('submit-') || after.status === 'failed') continue
    const bank = item.bank.identifier
    const behaviours = timeline.recent('behaviour', bank, startOf(by.invocation, at), at)
    if (behaviours.every((one) => one === 'rejecting'))
      report(reference, `is ${after.status}, though ${bank} rejects all debits`)
  }
}

/** 45: a debit has only the outcomes that its bank gave, an operator recorded or a timeout caused. */
export const outcomesComeFromBank: Check = (index, report) => {
  const { endpoints } = index.observations.setup
  for (const debit of index.debits.values()) {
    const { uuid, item } = debit
    if (!endpoints.includes(item.bank.identifier)) continue
    const words = [
      ...(index.bankPostsOf.get(uuid) ?? []).map(({ at, verdict }) => ({ at, says: verdict })),
      ...(index.queriesOf.get(uuid) ?? []).map(({ at, answer }) => ({ at, says: answer })),
    ]
    checkOutcomes(debit, words, index, report)
  }
}

const checkOutcomes = (
  { item, uuid, changes }: DebitHistory,
  words: readonly { at: number; says: BankQuery['answer'] }[],
  { callBy }: ObservationIndex,
  report: Reporter,
): void => {
  for (const { before, after, at, by } of changes) {
    const isMoved = after && before?.status !== after.status
    const said = isMoved && expectations[after.status].replies
    const entry = after?.history.at(-1)
    if (!said || !after || !by || entry?.by?.startsWith('operator:')) continue
    const { by: writer = '', set = {} } = entry ?? {}
    const isTimeout = after.status === 'failed' && set.errorCode === 'timeout'
    if ((isTimeout && writer.startsWith('job:')) || isRefusal({ by: writer, set })) continue
    const call = callBy.get(by.invocation)
    const isReported =
      call?.caller?.kind === 'bank' &&
      call.caller.id === item.bank.identifier &&
      call.path.uuid === uuid &&
      membersOf(call.sent).status === after.status
    const isSaid = words.some((word) => word.at <= at && said.includes(word.says))
    if (!isReported && !isSaid)
      report(item.reference, `is ${after.status}, which its bank never said`)
  }
}
