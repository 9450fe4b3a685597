import { isDeepStrictEqual } from 'node:util'
import type { ApiCall } from '../engine/observations.ts'
import { requestIdOf } from './calls.ts'
import { eventExpectations, expectations } from './lifecycle.ts'
import type { Check, DebitHistory, ObservationIndex, Reporter } from './observation-index.ts'
import { isRefusal } from './prompts.ts'
import { type ChangeOf, type Entry, entriesOf, type RawDebit } from './raw-items.ts'
import { MINUTE_MS } from './time-and-money.ts'

/** 5, 6, 12, 33: the history of a debit, write by write. */

export const debitsAreListed: Check = ({ debits }, report) => {
  for (const [reference, { item, entries }] of debits) {
    const customer = `${item.bank.identifier}#${item.phone}${entries.some(isRefusal) ? '#unprompted' : ''}`
    if (item.byCustomer !== customer) report(reference, `is listed for ${item.byCustomer}`)
    const [provider, list = ''] = String(item.byStatus).split('#')
    if (provider !== item.provider || !expectations[item.status].lists.includes(list))
      report(reference, `is ${item.status}, but listed as ${item.byStatus}`)
  }
}

/** The members whose change must increase the version. */
const counts = ({
  status,
  history,
  approval,
  reversalRequest,
  settledIn,
  adjustedIn,
}: RawDebit): string =>
  `${status} ${history.length} ${approval?.rid} ${reversalRequest?.rid} ${settledIn} ${adjustedIn}`

export const writesIncreaseVersion: Check = ({ debits }, report) => {
  for (const [reference, { changes }] of debits) {
    for (const { before, after, sequence } of changes) {
      if (!before || !after) continue
      const counted = after.version - before.version
      if (counted !== (counts(before) === counts(after) ? 0 : 1))
        report(reference, `change ${sequence} increases the version by ${counted}`)
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

export const statusAndEntryMove: Check = ({ debits }, report) => {
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
      if (!earlier.every((entry, n) => isSameEntry(entry, entries[n])))
        report(reference, `change ${sequence} rewrote its history`)
      const added = entries.slice(earlier.length).map(({ type }) => type)
      const moved = before.status === after.status ? [] : [after.status]
      if (added.join() !== moved.join())
        report(reference, `change ${sequence} adds the entries ${added}, but moves to ${moved}`)
    }
  }
}

/** Jobs that write what a bank said, or act themselves. */
const JOBS: Record<string, RegExp> = {
  'report-sandbox-outcome': /^bank:/,
  'submit-to-bank': /^(?:bank:.*|job:submit-to-bank)$/,
  'submit-sidelined': /^(?:bank:.*|job:submit-to-bank)$/,
  'expire-debit': /^(?:bank:.*|job:expire-debit)$/,
  sweep: /^(?:bank:.*|job:sweep)$/,
}

/** Reports whether a function may write in the name of an actor: callers only in their own. */
const isActor = (by: string, name: string, caller: ApiCall['caller']): boolean => {
  if (caller) return by === `${caller.kind}:${caller.id}`
  return name.startsWith('manage-') ? by.startsWith('operator:') : JOBS[name]?.test(by) === true
}

/** The longest time between a cause and its write. */
const CAUSE_MAX_MS = MINUTE_MS
const OPERATOR_MAX_MS = 16 * MINUTE_MS

export const movesNameTheirCause: Check = (index, report) => {
  for (const [reference, history] of index.debits) {
    history.entries.forEach((entry, n) => {
      if (!isOwner(entry, history)) report(reference, `event ${n} is by ${entry.by}`)
      if (!entry.rid) report(reference, `event ${n} names no request`)
    })
    for (const change of history.changes) checkCause(change, index, report)
  }
}

const isOwner = ({ type, by }: Entry, { item: { provider, bank } }: DebitHistory): boolean => {
  const { writers, verb } = eventExpectations[type]
  if (by.startsWith('operator:')) return verb !== null
  const names = {
    provider: by === `provider:${provider}`,
    bank: by === `bank:${bank.identifier}`,
    job: by.startsWith('job:'),
  }
  return writers.some((writer) => names[writer])
}

const checkCause = (
  { before, after, by, at, sequence }: ChangeOf<RawDebit>,
  { callBy, observations: { setup } }: ObservationIndex,
  report: Reporter,
): void => {
  const entry = after && entriesOf(after).at(-1)
  if (!entry || after.history.length === before?.history.length) return
  const { reference } = after
  const most = by?.name.startsWith('manage-') ? OPERATOR_MAX_MS : CAUSE_MAX_MS
  if (Math.abs(at - entry.writtenAt) > most + setup.skew)
    report(reference, `change ${sequence} at ${at} is dated ${entry.writtenAt}`)
  if (!by) return
  const call = callBy.get(by.invocation)
  if (!isActor(entry.by, by.name, call?.caller))
    report(reference, `change ${sequence} of ${by.name} names ${entry.by}`)
  const requestId = call?.reply && requestIdOf(call.reply)
  if (call?.caller && requestId !== undefined && requestId !== entry.rid)
    report(reference, `change ${sequence} is of the request ${requestId}, not ${entry.rid}`)
}
