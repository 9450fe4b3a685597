import type { ApiCall } from '../engine/observations.ts'
import { allOf, type Check, type Reporter } from './invariant.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { isAccepted } from './reply.ts'
import { debitNumber } from './time-and-money.ts'

/** 32: what is of another is as if it were not there. */

/** Refused before anybody looked for it, or in a fault of the service. */
const BESIDE = new Set([400, 401, 403, 422, 429])

const isDenied = ({ reply }: ApiCall): boolean =>
  !reply || reply.status === 404 || reply.status >= 500 || BESIDE.has(reply.status)

const isOwn = ({ caller }: ApiCall, { item }: DebitHistory): boolean =>
  caller?.id === (caller?.kind === 'bank' ? item.bank.identifier : item.provider)

const isReadByItsOwn: Check = ({ observations, debits }, report) => {
  for (const call of observations.calls) {
    if (call.name !== 'get-debit-request') continue
    const debit = debits.get(String(call.path.reference))
    if (debit && !isOwn(call, debit) && !isDenied(call)) {
      report(debit.item.reference, `was shown to ${call.caller?.id}`)
    }
  }
}

/** A delivery is named by its debit's number and that of the event. */
const EVENTS_MAX = 100

const isRedeliveredToItsOwn: Check = (index, report) => {
  const byNumber = new Map([...index.debits].map(([name, debit]) => [debitNumber(name), debit]))
  for (const call of index.observations.calls) {
    if (call.name !== 'redeliver-event') continue
    const debit = byNumber.get(Math.floor(Number(call.path.id) / EVENTS_MAX))
    if (debit && !isOwn(call, debit) && !isDenied(call)) {
      report(debit.item.reference, `was redelivered for ${call.caller?.id}`)
    }
  }
}

const isChangedByItsOwn: Check = (index, report) => {
  for (const { call, uuid, bank, code } of index.reports) {
    const debit = index.byUuid.get(uuid)
    if (!debit || isOwn(call, debit)) continue
    const about = debit.item.reference
    // That it cannot go from a status tells that it is there.
    if (isAccepted(call) || code === 3001) report(about, `was reported on by ${bank}`)
    checkWrites(call, debit, index, report)
  }
}

const checkWrites = (
  { invocation, caller }: ApiCall,
  { item }: DebitHistory,
  { byInvocation }: ObservationIndex,
  report: Reporter,
): void => {
  const writes = invocation === undefined ? [] : (byInvocation.get(invocation) ?? [])
  if (writes.some(({ after }) => after?.pk === item.pk)) {
    report(item.reference, `was changed by ${caller?.id}`)
  }
}

export const objectsAreIsolated = allOf(isReadByItsOwn, isRedeliveredToItsOwn, isChangedByItsOwn)
