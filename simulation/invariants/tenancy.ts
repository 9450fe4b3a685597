import type { ApiCall } from '../engine/observations.ts'
import { allOf, type Check, type Reporter } from './invariant.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { isAccepted } from './reply.ts'
import { debitNumber } from './time-and-money.ts'

/** 32: providers and banks cannot see each other's objects. */

/** Rejected before the object was read. */
const UNRELATED = new Set([400, 401, 403, 422, 429])

const isDenied = ({ reply }: ApiCall): boolean =>
  !reply || reply.status === 404 || reply.status >= 500 || UNRELATED.has(reply.status)

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

/** A delivery id is the debit's number followed by the event's. */
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
    // An invalid transition reveals that the debit exists.
    if (isAccepted(call) || code === 3001) report(about, `was changed or revealed to ${bank}`)
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

const REFERENCE = /[A-Z]{3}-[0-9]{8}-[A-Z0-9]{6}/g

/** No reply to a provider or bank names an object of another one. */
const repliesNameOwnObjects: Check = ({ observations, debits, batches }, report) => {
  for (const { caller, name, reply } of observations.calls) {
    for (const [reference] of (caller && reply?.raw?.matchAll(REFERENCE)) ?? []) {
      const owner = debits.get(reference)?.item ?? batches.get(reference)?.item
      const bank = (owner as DebitHistory['item'] | undefined)?.bank?.identifier
      const isOwner = caller?.kind === 'bank' ? bank === caller.id : owner?.provider === caller?.id
      if (owner && !isOwner) report(reference, `was named to ${caller?.id} by ${name}`)
    }
  }
}

export const objectsAreIsolated = allOf(
  repliesNameOwnObjects,
  isReadByItsOwn,
  isRedeliveredToItsOwn,
  isChangedByItsOwn,
)
