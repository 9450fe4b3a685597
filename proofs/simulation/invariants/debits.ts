import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ApiCall } from '../engine/observations.ts'
import * as sent from './calls.ts'
import { eventExpectations, expectations } from './lifecycle.ts'
import type { DebitHistory } from './observation-index.ts'
import {
  entriesOf,
  isRefusal,
  isUnended,
  type Kind,
  kindOf,
  ownerIn,
  type RawDebit,
} from './raw-items.ts'
import { type Check, type Checks, eachDebit, eachDebitUpdate } from './rules.ts'
import { dayOf, MINUTE_MS } from './time-and-money.ts'

/** The effects of a charge, and the history of its debit. */

/** The members of a debit that a write may change; the others are facts. */
const CHANGING = new Set(
  'status version history approval reversalRequest settledIn adjustedIn byStatus byCustomer work due expiresAt'.split(
    ' ',
  ),
)

const ENDING = new Set<Kind>(['debit', 'refund', 'exception'])

const PERMANENT = 'debit claim batch line exception refund'.split(' ')

const itemsStay: Check = ({ observations, claimChanges }, report) => {
  for (const { after, before } of observations.changes) {
    if (!after && before && PERMANENT.includes(kindOf(before))) report(before.pk, 'was deleted')
    if (after?.expiresAt !== undefined && isUnended(after))
      report(after.pk, 'may expire before it has ended')
  }
  for (const { before, after } of claimChanges) {
    const isSame = before?.reference === after?.reference && before?.request === after?.request
    if (before && after && !isSame) report(after.pk, 'names another debit')
  }
}

/** What has ended leaves the lists of open work, and expires. */
const endedItemsLeave: Check = ({ observations: { items } }, report) => {
  for (const item of items.filter((one) => ENDING.has(kindOf(one)))) {
    const isOpen = isUnended(item)
    if (!isOpen && item.expiresAt === undefined) report(item.pk, 'has ended, but never expires')
    const isUnsettled = isOpen && ['completed', 'reversed'].includes(String(item.status))
    if (kindOf(item) === 'debit' && String(item.work).startsWith('SETTLE#') !== isUnsettled)
      report(item.pk, `is ${item.status} in the list ${item.work}`)
  }
}

const factsStay = eachDebitUpdate(({ before, after }) =>
  Object.keys({ ...before, ...after })
    .filter((name) => !CHANGING.has(name) && !isDeepStrictEqual(before[name], after[name]))
    .map((name) => `another ${name} was written`),
)

const createdAt = (debit: DebitHistory | undefined): number => debit?.changes[0]?.at ?? Infinity

const OF_A_CHARGE = new Set<Kind>(['debit', 'claim', 'day total'])

const rejectedChargesWriteNothing: Check = ({ observations, changesBy }, report) => {
  for (const call of observations.calls) {
    const isRejected = call.name === 'charge' && sent.isRefused(call)
    for (const { after } of isRejected ? (changesBy.get(call.invocation) ?? []) : []) {
      if (after && OF_A_CHARGE.has(kindOf(after)))
        report(after.pk, `was written, but the reply was ${call.reply?.status}`)
    }
  }
}

const keyOf = ({ item }: DebitHistory) => sent.chargeKey(item.provider, item.partnerReference)

const debitsHaveCharges = eachDebit((debit, { charges }) => {
  const { changes } = debit
  const charge = charges.get(keyOf(debit))
  const isOpened = charge?.some(({ call }) => !sent.isRefused(call))
  const isWritten = !changes[0] || changes[0].by
  return isWritten && !isOpened && 'exists, but its charge was rejected'
})

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Deliveries and exceptions are checked by 14 and 31. */
const claimsHaveDebits: Check = ({ debits, claims }, report) => {
  for (const { pk, reference } of claims) {
    const debit = debits.get(reference)
    const names = debit && `${debit.item.provider}#${hashOf(debit.item.partnerReference)}`
    if (ownerIn(pk) !== names) report(pk, `claims ${reference}, which does not exist`)
  }
}

/** Rejected independently of the charge. */
const UNRELATED = new Set([401, 403, 429])

const replaysMatchCharge: Check = ({ debits, charges, setup }, report) => {
  const debitOf = new Map([...debits.values()].map((debit) => [keyOf(debit), debit]))
  for (const [key, attempts] of charges) {
    const debit = debitOf.get(key)
    const own = debit?.item.reference ?? ''
    for (const attempt of attempts) {
      const { call, reply, provider, partnerReference } = attempt
      const isSame = debit && sent.matchesRequest(attempt, debit.item)
      const { status = 0, at = 0 } = call.reply ?? {}
      if (sent.isAccepted(call)) {
        const { reference, response } = sent.membersOf(reply.data)
        if (!debit || reference !== own) {
          report(`${provider} ${partnerReference}`, `a reply names ${reference}`)
          continue
        }
        if (!isSame) report(own, 'was returned for another request')
        if (sent.membersOf(response).uuid !== debit.uuid) report(own, 'has another uuid')
        if (createdAt(debit) > at) report(own, 'was returned too early')
      }
      const { reference, uuid } = sent.membersOf(reply.details)
      if (status === 409 && (reference !== debit?.item.reference || uuid !== debit?.uuid))
        report(own || partnerReference, `a 409 names ${reference} ${uuid}`)
      const { duplicates } = setup.providers.find(({ id }) => id === provider) ?? {}
      const isRepeat = isSame && createdAt(debit) < call.at && sent.isRefused(call)
      const isRight = UNRELATED.has(status) || (status === 409 && duplicates === 'reject')
      if (isRepeat && !isRight) report(own, `exists, but its repeat received ${status}`)
    }
  }
}

const debitsAreListed = eachDebit(({ item, entries }) => {
  const customer = `${item.bank.identifier}#${item.phone}${entries.some(isRefusal) ? '#unprompted' : ''}`
  const [provider, list = ''] = String(item.byStatus).split('#')
  const isListed = provider === item.provider && expectations[item.status].lists.includes(list)
  return [
    item.byCustomer !== customer && `is listed for ${item.byCustomer}`,
    !isListed && `is ${item.status}, but listed as ${item.byStatus}`,
  ]
})

/** The members whose change must increase the version. */
const countedIn = (debit: RawDebit): string =>
  [
    ...[debit.status, debit.history.length, debit.approval?.rid, debit.reversalRequest?.rid],
    ...[debit.settledIn, debit.adjustedIn],
  ].join(' ')

const writesIncreaseVersion = eachDebitUpdate(({ before, after, sequence }) => {
  const counted = after.version - before.version
  const isRight = counted === (countedIn(before) === countedIn(after) ? 0 : 1)
  return !isRight && `change ${sequence} increases the version by ${counted}`
})

/** The reconciliation compares references and claims (47). */
const referencesHaveTheirDay = eachDebit(({ item, createdAt }) => [
  item.pk !== `DEBIT#${item.reference}` && `has the key ${item.pk}`,
  item.reference.split('-')[1] !== dayOf(createdAt).replaceAll('-', '') &&
    'has the day of another charge',
])

const openingsAreComplete = eachDebit(({ changes }) =>
  changes
    .filter(({ before, after }) => !before && after)
    .map(({ after }) => after?.history.map(({ type }) => type).join(' '))
    .map((opened) => opened !== 'created pending' && `was opened with ${opened}`),
)

const statusAndEntryMove = eachDebitUpdate(({ before, after, sequence }) => {
  const [earlier, entries] = [entriesOf(before), entriesOf(after)]
  const isKept = isDeepStrictEqual(entries.slice(0, earlier.length), earlier)
  const added = entries.slice(earlier.length).map(({ type }) => type)
  const moved = before.status === after.status ? [] : [after.status]
  return [
    !isKept && `change ${sequence} rewrote its history`,
    added.join() !== moved.join() &&
      `change ${sequence} adds the entries ${added}, but moves to ${moved}`,
  ]
})

const entriesNameTheirCause = eachDebit(({ item: { provider, bank }, entries }) =>
  entries.flatMap(({ type, by, rid }, n) => {
    const { writers, verb } = eventExpectations[type]
    const isWriter = {
      provider: by === `provider:${provider}`,
      bank: by === `bank:${bank.identifier}`,
      job: by.startsWith('job:'),
    }
    const isOperator = by.startsWith('operator:')
    const isOwner = isOperator ? verb !== null : writers.some((writer) => isWriter[writer])
    return [!isOwner && `event ${n} is by ${by}`, !rid && `event ${n} names no request`]
  }),
)

/** Jobs that write what a bank said, or act themselves. */
const JOBS: Record<string, RegExp> = {
  'report-sandbox-outcome': /^bank:/,
  'submit-to-bank': /^(?:bank:.*|job:submit-to-bank)$/,
  'submit-sidelined': /^(?:bank:.*|job:submit-to-bank)$/,
  'expire-debit': /^(?:bank:.*|job:expire-debit)$/,
}

/** Reports whether a function may write in the name of an actor: callers only in their own. */
const isActor = (by: string, name: string, caller: ApiCall['caller']): boolean => {
  if (caller) return by === `${caller.kind}:${caller.id}`
  return name.startsWith('manage-') ? by.startsWith('operator:') : JOBS[name]?.test(by) === true
}

/** The longest time between a cause and its write. */
const CAUSE_MAX_MS = MINUTE_MS
const OPERATOR_MAX_MS = 16 * MINUTE_MS

const writesNameTheirCause = eachDebit(({ changes }, { callBy, setup }) =>
  changes.flatMap(({ before, after, by, at, sequence }) => {
    const entry = after && entriesOf(after).at(-1)
    if (!entry || after.history.length === before?.history.length) return []
    const most = by?.name.startsWith('manage-') ? OPERATOR_MAX_MS : CAUSE_MAX_MS
    const isLate = Math.abs(at - entry.writtenAt) > most + setup.skew
    const dated = isLate && `change ${sequence} at ${at} is dated ${entry.writtenAt}`
    if (!by) return [dated]
    const { caller, reply } = callBy.get(by.invocation) ?? {}
    const requestId = caller && reply && sent.requestIdOf(reply)
    return [
      dated,
      !isActor(entry.by, by.name, caller) && `change ${sequence} of ${by.name} names ${entry.by}`,
      requestId !== undefined &&
        requestId !== entry.rid &&
        `change ${sequence} is of the request ${requestId}, not ${entry.rid}`,
    ]
  }),
)

export const checks: Checks = {
  1: [itemsStay, endedItemsLeave, factsStay],
  2: [rejectedChargesWriteNothing, debitsHaveCharges, claimsHaveDebits],
  3: [replaysMatchCharge],
  5: [debitsAreListed],
  6: [writesIncreaseVersion],
  9: [referencesHaveTheirDay],
  12: [openingsAreComplete, statusAndEntryMove],
  33: [entriesNameTheirCause, writesNameTheirCause],
}
