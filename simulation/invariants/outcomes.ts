import type { RunSetup } from '../engine/observations.ts'
import { allOf, type Check, type Reporter } from './invariant.ts'
import type { DebitHistory } from './observation-index.ts'
import type { Entry } from './raw-items.ts'
import { type Members, membersOf } from './reply.ts'
import { HOUR_MS, MINUTE_MS } from './time-and-money.ts'

/** 4, 8: the outcome of a debit and its timestamps. */

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
  (...types: string[]) =>
  ({ type }: Entry): boolean =>
    types.includes(type)

/**
 * Returns the latest end: the processing timeout and a late timer; after faults, the sweeps as
 * well.
 */
const endsBy = (
  { createdAt }: DebitHistory,
  { isHealthy, isRestored, healedAt, skew }: RunSetup,
): number => {
  // A restore holds the timeouts.
  if (isRestored) return Math.max(createdAt, healedAt) + HOUR_MS
  const withoutFaults = createdAt + PROCESSING_MS + SCHEDULER_MS + 2 * skew
  return isHealthy ? withoutFaults : Math.max(withoutFaults, healedAt) + SWEEPS_MS
}

export const debitsEndInTime: Check = ({ debits, observations: { setup } }, report) => {
  for (const [reference, history] of debits) {
    const end = endsBy(history, setup)
    const outcome = history.entries.find(typeIs('completed', 'failed'))
    if (outcome && outcome.at > end) {
      report(reference, `ended ${outcome.at - end} ms late`)
    }
    if (!outcome && setup.endedAt > end) report(reference, `is ${history.item.status} at the end`)
  }
}

const MESSAGES: Record<string, number> = {
  'Transaction timeout': APPROVAL_MS,
  'Bank processing timeout': PROCESSING_MS,
}

/** 8: exactly the failures have a message, and timeouts have the right one. */
const failuresHaveMessages: Check = ({ debits }, report) => {
  for (const [reference, history] of debits) {
    for (const { type, set } of history.entries) {
      const isFailure = type === 'failed'
      if (
        (set.errorMessage !== undefined) !== isFailure ||
        (set.errorCode !== undefined) !== isFailure
      ) {
        report(reference, `${type} with the message ${set.errorMessage}`)
      }
      if (type === 'processing' && !set.bankReference) {
        report(reference, 'is processing without a bank reference')
      }
    }
    const failed = history.entries.find(typeIs('failed'))
    if (failed?.by.startsWith('job:')) checkTimeout(failed, history, report)
  }
}

const checkTimeout = (
  failed: Entry,
  { item, entries, createdAt }: DebitHistory,
  report: Reporter,
) => {
  const { errorMessage = '', errorCode } = failed.set
  const clock = MESSAGES[errorMessage]
  const isApproval = clock === APPROVAL_MS
  const since = isApproval ? entries.find(typeIs('processing'))?.at : createdAt
  if (clock === undefined || errorCode !== 'timeout') {
    report(item.reference, `timed out as ${errorCode}, ${errorMessage}`)
  } else if (since === undefined || (isApproval && item.approval)) {
    report(item.reference, 'timed out by a timeout that did not apply')
  } else if (failed.writtenAt < since + clock) {
    report(item.reference, `timed out ${since + clock - failed.writtenAt} ms early`)
  }
}

/** Reports whether a view has exactly the timestamps of its history. */
const matchesHistory = (view: Members, types: ReadonlySet<string>): boolean =>
  (view.processed_at !== null) === types.has('processing') &&
  (view.completed_at !== null) === types.has('completed') &&
  (view.error_message !== null) === types.has('failed')

/** 8: events and reads show the timestamps of the history. */
const viewsShowTimestamps: Check = ({ debits, posts, observations }, report) => {
  for (const { about, reference, n, subject } of posts) {
    const entries = about === 'transaction' && debits.get(reference)?.entries
    if (!entries) continue
    const types = new Set(entries.slice(0, n + 1).map(({ type }) => type))
    if (!matchesHistory(subject, types)) report(reference, `event ${n} has wrong timestamps`)
  }
  for (const { name, reply, path } of observations.calls) {
    if (name !== 'get-debit-request' || reply?.status !== 200) continue
    const debit = debits.get(String(path.reference))
    const data = membersOf(membersOf(reply.body).data)
    const last = debit?.entries.findIndex(({ type }) => type === data.status) ?? -1
    const types = new Set(debit?.entries.slice(0, last + 1).map(({ type }) => type))
    if (debit && !matchesHistory(membersOf(data.response), types)) {
      report(debit.item.reference, `was read as ${data.status} with wrong timestamps`)
    }
  }
}

export const timesMatchHistory = allOf(failuresHaveMessages, viewsShowTimestamps)

/** The query and the writes after it. */
const QUERY_MS = 15_000

/** 38: without faults, a bank is queried before a timeout, and its outcome wins. */
export const bankIsQueriedFirst: Check = ({ debits, observations: { setup, queries } }, report) => {
  if (!setup.isHealthy) return
  const queriesOf = Map.groupBy(queries, ({ uuid }) => uuid)
  for (const [reference, { item, entries, changes }] of debits) {
    const failed = entries.find(typeIs('failed'))
    const isAskable = setup.endpoints.includes(item.bank.identifier)
    if (!isAskable || !failed?.by.startsWith('job:')) continue
    const at = changes.find(({ after }) => after?.status === 'failed')?.at ?? failed.writtenAt
    const last = queriesOf
      .get(item.uuid)
      ?.findLast((query) => query.at <= at && at - query.at <= QUERY_MS)
    if (!last) report(reference, 'timed out without a query to its bank')
    if (last?.answer === 'completed' || last?.answer === 'failed') {
      report(reference, `timed out, but its bank reported ${last.answer}`)
    }
  }
}
