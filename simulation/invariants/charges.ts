import { createHash } from 'node:crypto'
import type { SimulatedProvider } from '../engine/observations.ts'
import {
  type ChargeAttempt,
  type ChargeHistory,
  chargeKey,
  matchesRequest,
} from './charge-histories.ts'
import { allOf, type Check, type Reporter } from './invariant.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { type Kind, kindOf, ownerIn, type RawDebit } from './raw-items.ts'
import { isAccepted, isRefused, isUnknown, type Members, membersOf } from './reply.ts'
import { inGhs } from './time-and-money.ts'

/** 1, 2, 3: the effects of a charge, received or not. */

const FACTS = [
  'reference',
  'uuid',
  'provider',
  'partnerReference',
  'phone',
  'amount',
  'narration',
  'metadata',
  'countedOn',
] as const satisfies (keyof RawDebit)[]

const PERMANENT = new Set<Kind>([
  'debit',
  'claim',
  'pointer',
  'batch',
  'line',
  'exception',
  'refund',
])

/** 1: no part of a debit is deleted or changed. */
const factsStayUnchanged: Check = ({ observations, debits, nameChanges }, report) => {
  for (const { after, before } of observations.changes) {
    if (!after && before && PERMANENT.has(kindOf(before))) report(before.pk, 'was deleted')
  }
  for (const [reference, { changes }] of debits) {
    for (const { before, after } of changes) {
      if (!before || !after) continue
      for (const fact of FACTS) {
        if (before[fact] !== after[fact]) report(reference, `another ${fact} was written`)
      }
      const { identifier, name } = before.bank
      if (after.bank.identifier !== identifier || after.bank.name !== name) {
        report(reference, 'another bank was written')
      }
    }
  }
  for (const { before, after } of nameChanges) {
    const isSame = before?.reference === after?.reference && before?.request === after?.request
    if (before && after && !isSame) report(after.pk, 'names another debit')
  }
}

/** 1: an accepted debit exists before its reply. */
const acceptedDebitsExist: Check = (index, report) => {
  for (const { provider, partnerReference, tries } of index.charges.values()) {
    for (const attempt of tries) {
      if (!isAccepted(attempt.call)) continue
      const data = dataOf(attempt)
      const reference = String(data.reference)
      const debit = index.debits.get(reference)
      if (!debit) {
        report(reference, `was returned with ${attempt.call.reply?.status}, but does not exist`)
        continue
      }
      const { item, changes } = debit
      const isOwn = item.provider === provider && item.partnerReference === partnerReference
      if (!isOwn) report(reference, `was returned to ${provider} for ${partnerReference}`)
      if (membersOf(data.response).uuid !== item.uuid) report(reference, 'has another uuid')
      const writtenAt = changes[0]?.at ?? Number.POSITIVE_INFINITY
      if (writtenAt > (attempt.call.reply?.at ?? 0))
        report(reference, 'was returned before it existed')
    }
  }
}

const dataOf = ({ reply }: ChargeAttempt): Members => membersOf(reply.data)

/** 1: every read returns the debit as it was charged. */
const readsMatchCharge: Check = ({ observations, debits }, report) => {
  for (const { name, caller, path, at, reply } of observations.calls) {
    if (name !== 'get-debit-request' || !reply) continue
    const debit = debits.get(String(path.reference))
    if (debit?.item.provider !== caller?.id || !debit) continue
    const { reference, uuid, amount } = debit.item
    const wasThere = (debit.changes[0]?.at ?? Number.POSITIVE_INFINITY) < at
    if (reply.status === 404 && wasThere) report(reference, 'was not found')
    if (reply.status !== 200) continue
    const data = membersOf(membersOf(reply.body).data)
    const isSame = data.reference === reference && data.uuid === uuid && data.currency === 'GHS'
    if (!isSame || data.amount !== inGhs(amount)) report(reference, 'was read with other facts')
  }
}

export const acceptedChargeKept = allOf(factsStayUnchanged, acceptedDebitsExist, readsMatchCharge)

const OF_A_CHARGE = new Set<Kind>(['debit', 'claim', 'pointer', 'day total'])

/** 2: a rejected charge writes nothing, and a debit has an accepted charge. */
export const refusedChargeLeavesNoTrace: Check = (index, report) => {
  for (const call of index.observations.calls) {
    if (call.name !== 'charge' || !isRefused(call) || call.invocation === undefined) continue
    for (const { after } of index.byInvocation.get(call.invocation) ?? []) {
      if (after && OF_A_CHARGE.has(kindOf(after))) {
        report(after.pk, `was written, but the reply was ${call.reply?.status}`)
      }
    }
  }
  for (const [reference, { item, changes }] of index.debits) {
    if (changes[0] && !changes[0].by) continue
    const charge = index.charges.get(chargeKey(item.provider, item.partnerReference))
    const mayHaveOpened = charge?.tries.some(({ call }) => isAccepted(call) || isUnknown(call))
    if (!mayHaveOpened) report(reference, 'exists, but its charge was rejected')
  }
  checkDependents(index, report)
}

/** Every dependent item has its debit. */
const checkDependents = (index: ObservationIndex, report: Reporter): void => {
  const { debits, batches, claims, pointers, deliveries, exceptions } = index
  for (const { pk, reference } of claims) {
    const debit = debits.get(reference)
    const names = debit && `${debit.item.provider}#${hashOf(debit.item.partnerReference)}`
    if (ownerIn(pk) !== names) report(pk, `claims ${reference}, which does not exist`)
  }
  for (const { pk, reference } of pointers) {
    const isDebits = debits.get(reference)?.item.uuid === ownerIn(pk)
    if (!isDebits) report(pk, `points to ${reference}, which does not exist`)
  }
  for (const { item } of deliveries.values()) {
    const isOfSomething = debits.has(item.reference) || batches.has(item.reference)
    if (!isOfSomething) report(item.pk, 'is a delivery of a missing object')
  }
  for (const { pk, reference } of exceptions) {
    if (!debits.has(reference)) report(pk, 'is an exception without a debit')
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Rejected independently of the charge. */
const UNRELATED = new Set([401, 403, 429])

/** 3: a charge creates at most one debit, and a repeat returns it. */
export const replayMatchesCharge: Check = (index, report) => {
  const debitOf = new Map<string, DebitHistory>()
  for (const debit of index.debits.values()) {
    const key = chargeKey(debit.item.provider, debit.item.partnerReference)
    if (debitOf.has(key)) report(debit.item.reference, `is a second debit of one charge`)
    debitOf.set(key, debit)
  }
  for (const [key, charge] of index.charges) {
    const debit = debitOf.get(key)
    const provider = index.providers.get(charge.provider)
    for (const attempt of charge.tries) checkAttempt(attempt, { charge, debit, provider, report })
  }
}

type Context = {
  charge: ChargeHistory
  debit: DebitHistory | undefined
  provider: SimulatedProvider | undefined
  report: Reporter
}

const checkAttempt = (
  attempt: ChargeAttempt,
  { charge, debit, provider, report }: Context,
): void => {
  const { call, request } = attempt
  const { reply, at } = call
  if (!reply) return
  const about = debit?.item.reference ?? `${charge.provider} ${charge.partnerReference}`
  if (isAccepted(call)) {
    const named = dataOf(attempt).reference
    if (named !== debit?.item.reference) report(about, `a reply names ${named}`)
    const isSame = debit && matchesRequest(request, debit.item)
    if (debit && !isSame) report(about, 'was returned for another request')
    return
  }
  if (reply.status === 409) {
    const { reference, uuid } = membersOf(attempt.reply.details)
    const isSame = reference === debit?.item.reference && uuid === debit?.item.uuid
    if (!isSame) report(about, `a 409 names ${reference} ${uuid}`)
  }
  if (!debit || !isRefused(call) || UNRELATED.has(reply.status)) return
  const wasThere = (debit.changes[0]?.at ?? Number.POSITIVE_INFINITY) < at
  if (!wasThere || !matchesRequest(request, debit.item)) return
  if (reply.status === 409 && provider?.duplicates === 'reject') return
  report(about, `exists, but its repeat received ${reply.status}`)
}
