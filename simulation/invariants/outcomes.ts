import type { RunSetup } from '../engine/observations.ts'
import { allOf, type Check, type Reporter } from './invariant.ts'
import type { DebitHistory } from './observation-index.ts'
import type { Entry } from './raw-items.ts'
import { type Members, membersOf } from './reply.ts'
import { MINUTE_MS } from './time-and-money.ts'

/** 4, 8: every debit comes to its end in time, and its times say what it came through. */

const PROCESSING_MS = 10 * MINUTE_MS
const APPROVAL_MS = 5 * MINUTE_MS
/** A timer may fire as late. */
const SCHEDULER_MS = MINUTE_MS
/**
 * Three sweeps: one in whose middle the world healed, one from which a late index hid the debit,
 * and the one that finds it.
 */
const SWEEPS_MS = 3 * MINUTE_MS

const typeIs =
  (...types: string[]) =>
  ({ type }: Entry): boolean =>
    types.includes(type)

/** Ten minutes and a late timer after the charge; where things went wrong, the sweeps after that. */
const endsBy = ({ createdAt }: DebitHistory, { isHealthy, healedAt, skew }: RunSetup): number => {
  const byItself = createdAt + PROCESSING_MS + SCHEDULER_MS + 2 * skew
  return isHealthy ? byItself : Math.max(byItself, healedAt) + SWEEPS_MS
}

/** 4 */
export const debitsEndInTime: Check = ({ debits, observations: { setup } }, report) => {
  for (const [reference, history] of debits) {
    const end = endsBy(history, setup)
    const outcome = history.entries.find(typeIs('completed', 'failed'))
    if (outcome && outcome.at > end) {
      report(reference, `came to its end ${outcome.at - end} ms late`)
    }
    if (!outcome && setup.endedAt > end) report(reference, `is ${history.item.status} in the end`)
  }
}

const MESSAGES: Record<string, number> = {
  'Transaction timeout': APPROVAL_MS,
  'Bank processing timeout': PROCESSING_MS,
}

/** 8: only a failure has a message, and each has one; that of a clock is true. */
const hasItsMessage: Check = ({ debits }, report) => {
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
        report(reference, 'is processing without a reference of its bank')
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
    report(item.reference, 'ran out by a clock that did not run')
  } else if (failed.writtenAt < since + clock) {
    report(item.reference, `ran out ${since + clock - failed.writtenAt} ms early`)
  }
}

/** What a view of a debit says of the way it has come. */
const isTrue = (view: Members, types: ReadonlySet<string>): boolean =>
  (view.processed_at !== null) === types.has('processing') &&
  (view.completed_at !== null) === types.has('completed') &&
  (view.error_message !== null) === types.has('failed')

/** 8: times and messages as they are told, in events and to who asks. */
const tellsItsTimes: Check = ({ debits, posts, observations }, report) => {
  for (const { about, reference, n, subject } of posts) {
    const entries = about === 'transaction' && debits.get(reference)?.entries
    if (!entries) continue
    const types = new Set(entries.slice(0, n + 1).map(({ type }) => type))
    if (!isTrue(subject, types)) report(reference, `event ${n} tells of other times`)
  }
  for (const { name, reply, path } of observations.calls) {
    if (name !== 'get-debit-request' || reply?.status !== 200) continue
    const debit = debits.get(String(path.reference))
    const data = membersOf(membersOf(reply.body).data)
    const last = debit?.entries.findIndex(({ type }) => type === data.status) ?? -1
    const types = new Set(debit?.entries.slice(0, last + 1).map(({ type }) => type))
    if (debit && !isTrue(membersOf(data.response), types)) {
      report(debit.item.reference, `was read as ${data.status} with other times`)
    }
  }
}

export const timesMatchHistory = allOf(hasItsMessage, tellsItsTimes)

/** The exchange with the bank, and the writes that follow it. */
const QUERY_MS = 15_000

/**
 * 38: before a timeout fails a debit, its bank is call, and an outcome that it names wins. Where
 * nothing goes wrong, the question arrives.
 */
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
      ?.findLast((one) => one.at <= at && at - one.at <= QUERY_MS)
    if (!last) report(reference, 'timed out, and its bank was not asked')
    if (last?.answer === 'completed' || last?.answer === 'failed') {
      report(reference, `timed out, and its bank said ${last.answer}`)
    }
  }
}
