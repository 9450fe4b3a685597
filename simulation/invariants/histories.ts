import { isDeepStrictEqual } from 'node:util'
import { allOf, type Check, type Reporter } from './invariant.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { type ChangeOf, type Entry, entriesOf, type RawDebit } from './raw-items.ts'
import { requestIdOf } from './reply.ts'
import { MINUTE_MS } from './time-and-money.ts'

/** 5, 6, 12, 33: the history of a debit, write by write. */

const TRANSITIONS: Record<string, readonly string[]> = {
  created: ['pending'],
  pending: ['processing', 'completed', 'failed'],
  processing: ['completed', 'failed'],
  completed: ['reversed'],
  failed: [],
  reversed: [],
}

/** 5: a history and each write follow the lifecycle. */
export const historyFollowsLifecycle: Check = ({ debits }, report) => {
  for (const [reference, { item, entries, changes }] of debits) {
    if (entries[0]?.type !== 'created') report(reference, `begins as ${entries[0]?.type}`)
    entries.slice(1).forEach(({ type }, n) => {
      const from = entries[n]?.type ?? ''
      if (!TRANSITIONS[from]?.includes(type)) report(reference, `went from ${from} to ${type}`)
    })
    const last = entries.at(-1)?.type
    if (item.status !== last)
      report(reference, `is ${item.status}, but its history ends with ${last}`)
    if (item.byStatus !== `${item.provider}#${item.status}`) {
      report(reference, `is ${item.status}, but listed as ${item.byStatus}`)
    }
    for (const { before, after, sequence } of changes) {
      if (!before || !after || before.status === after.status) continue
      if (!TRANSITIONS[before.status]?.includes(after.status)) {
        report(reference, `change ${sequence} went from ${before.status} to ${after.status}`)
      }
    }
  }
}

/** The members whose change must increase the version. */
const counts = ({ status, history, approval, settledIn, adjustedIn }: RawDebit): string =>
  `${status} ${history.length} ${approval?.rid} ${settledIn} ${adjustedIn}`

/** 6: a debit has one outcome, and every write increases its version. */
export const oneOutcomeWins: Check = ({ debits }, report) => {
  for (const [reference, { entries, changes }] of debits) {
    const outcomes = entries.filter(({ type }) => type === 'completed' || type === 'failed')
    if (outcomes.length > 1) {
      report(reference, `has the outcomes ${outcomes.map(({ type }) => type).join(', then ')}`)
    }
    for (const { before, after, sequence } of changes) {
      if (!before || !after) continue
      const counted = after.version - before.version
      if (counted !== (counts(before) === counts(after) ? 0 : 1)) {
        report(reference, `change ${sequence} increases the version by ${counted}`)
      }
    }
  }
}

const isSameEntry = (one: Entry | undefined, other: Entry | undefined): boolean =>
  one?.type === other?.type &&
  one?.writtenAt === other?.writtenAt &&
  one?.by === other?.by &&
  one?.rid === other?.rid &&
  isDeepStrictEqual(one?.set, other?.set)

const OPENING = 'created pending'

/** 12: a status and its entry are written together; entries never change. */
const statusAndEntryMove: Check = ({ debits }, report) => {
  for (const [reference, { changes }] of debits) {
    for (const { before, after, sequence } of changes) {
      if (!after) continue
      const entries = entriesOf(after)
      if (!before) {
        const opened = entries.map(({ type }) => type).join(' ')
        if (opened !== OPENING) report(reference, `was opened with ${opened}`)
        continue
      }
      const earlier = entriesOf(before)
      if (!earlier.every((entry, n) => isSameEntry(entry, entries[n]))) {
        report(reference, `change ${sequence} rewrote its history`)
      }
      const added = entries.slice(earlier.length).map(({ type }) => type)
      const moved = before.status === after.status ? [] : [after.status]
      if (added.join() !== moved.join()) {
        report(reference, `change ${sequence} adds the entries ${added}, but moves to ${moved}`)
      }
    }
  }
}

/** 12: an event names the previous status. */
const eventsNamePreviousStatus: Check = ({ debits, posts }, report) => {
  for (const { about, reference, n, body } of posts) {
    const entries = about === 'transaction' && debits.get(reference)?.entries
    if (!entries) continue
    const published = (body.data as { previous_status?: unknown }).previous_status
    const previous = entries[n - 1]?.type ?? null
    if (published !== previous)
      report(reference, `event ${n} follows ${previous}, not ${published}`)
  }
}

export const movesHaveOneEvent = allOf(statusAndEntryMove, eventsNamePreviousStatus)

const ACTORS: Record<string, RegExp> = {
  charge: /^provider:/,
  'update-debit-transaction': /^bank:/,
  'debit-callback': /^bank:/,
  'report-sandbox-outcome': /^bank:/,
  'submit-to-bank': /^(?:bank:.*|job:submit-to-bank)$/,
  'expire-debit': /^(?:bank:.*|job:expire-debit)$/,
  sweep: /^(?:bank:.*|job:sweep)$/,
  'manage-debit': /^operator:/,
}

/** The longest time between a cause and its write. */
const CAUSE_MAX_MS = MINUTE_MS
const OPERATOR_MAX_MS = 16 * MINUTE_MS

/** 33: each transition names its actor, time and request. */
export const movesNameTheirCause: Check = (index, report) => {
  for (const [reference, history] of index.debits) {
    history.entries.forEach((entry, n) => {
      if (!isOwner(entry, history)) report(reference, `event ${n} is by ${entry.by}`)
      if (!entry.rid) report(reference, `event ${n} names no request`)
    })
    for (const change of history.changes) checkCause(change, { index, reference, report })
  }
}

const isOwner = ({ type, by }: Entry, { item: { provider, bank } }: DebitHistory): boolean => {
  if (type === 'created' || type === 'pending') return by === `provider:${provider}`
  if (by.startsWith('operator:')) return type !== 'processing'
  if (type === 'reversed') return false
  return by === `bank:${bank.identifier}` || by.startsWith('job:')
}

type Judged = { index: ObservationIndex; reference: string; report: Reporter }

const checkCause = (change: ChangeOf<RawDebit>, { index, reference, report }: Judged): void => {
  const { before, after, by, at, sequence } = change
  if (!after || after.history.length === before?.history.length) return
  const entry = entriesOf(after).at(-1)
  if (!entry) return
  const most = by?.name.startsWith('manage-') ? OPERATOR_MAX_MS : CAUSE_MAX_MS
  if (Math.abs(at - entry.writtenAt) > most) {
    report(reference, `change ${sequence} at ${at} is dated ${entry.writtenAt}`)
  }
  if (!by) return
  if (!ACTORS[by.name]?.test(entry.by)) {
    report(reference, `change ${sequence} of ${by.name} names ${entry.by}`)
  }
  const call = index.askedBy.get(by.invocation)
  const requestId = call?.reply && requestIdOf(call.reply)
  if (call?.caller && requestId !== undefined && requestId !== entry.rid) {
    report(reference, `change ${sequence} is of the request ${requestId}, not ${entry.rid}`)
  }
}
