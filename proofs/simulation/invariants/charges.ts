import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Item } from '../../../sandbox/aws/table/change.ts'
import * as sent from './calls.ts'
import type { Check, DebitHistory, ObservationIndex, Reporter } from './observation-index.ts'
import { type Kind, kindOf, ownerIn, type RawDebit } from './raw-items.ts'
import { dayOf, inGhs } from './time-and-money.ts'

/** 1, 2, 3, 9: the effects of a charge, and the names of its debit. */

/** The members of a debit that a write may change; the others are facts. */
const CHANGING = new Set(
  'status version history approval reversalRequest settledIn adjustedIn byStatus byCustomer work due expiresAt'.split(
    ' ',
  ),
)

const PERMANENT = 'debit claim batch line exception refund'.split(' ')

export const factsStayUnchanged: Check = ({ observations, debits, claimChanges }, report) => {
  for (const { after, before } of observations.changes) {
    if (!after && before && PERMANENT.includes(kindOf(before))) report(before.pk, 'was deleted')
    if (after && mayExpireTooEarly(after)) report(after.pk, 'may expire before it has ended')
  }
  for (const [reference, { changes }] of debits) {
    for (const { before, after } of changes) {
      if (!before || !after) continue
      for (const name of Object.keys({ ...before, ...after }))
        if (!CHANGING.has(name) && !isDeepStrictEqual(before[name], after[name]))
          report(reference, `another ${name} was written`)
    }
  }
  for (const { before, after } of claimChanges) {
    const isSame = before?.reference === after?.reference && before?.request === after?.request
    if (before && after && !isSame) report(after.pk, 'names another debit')
  }
}

/** Whether an item that still has something to follow has an expiry. */
const mayExpireTooEarly = (item: Item & Partial<RawDebit>): boolean => {
  if (item.expiresAt === undefined) return false
  const isOf = (...statuses: string[]) => statuses.includes(String(item.status))
  const { settledIn, adjustedIn } = item
  const unended: Partial<Record<Kind, boolean>> = {
    debit:
      isOf('pending', 'processing') ||
      (isOf('completed') && !settledIn) ||
      (isOf('reversed') && settledIn !== undefined && !adjustedIn),
    refund: isOf('pending', 'processing'),
    exception: !('resolvedAt' in item),
  }
  return unended[kindOf(item)] ?? false
}

const writtenAt = ({ changes }: DebitHistory): number => changes[0]?.at ?? Infinity

export const readsMatchCharge: Check = ({ reads }, report) => {
  for (const { call, debit, data } of reads) {
    const { caller, at, reply } = call
    const { reference, amount, provider } = debit.item
    if (provider !== caller?.id || !reply) continue
    if (reply.status === 404 && writtenAt(debit) < at) report(reference, 'was not found')
    if (reply.status !== 200) continue
    const isSame =
      data.reference === reference && data.uuid === debit.uuid && data.currency === 'GHS'
    if (!isSame || data.amount !== inGhs(amount)) report(reference, 'was read with other facts')
  }
}

const OF_A_CHARGE = new Set<Kind>(['debit', 'claim', 'day total'])

/** 2: a rejected charge writes nothing, and a debit has an accepted charge. */
export const refusedChargeLeavesNoTrace: Check = (index, report) => {
  for (const call of index.observations.calls) {
    if (call.name !== 'charge' || !sent.isRefused(call)) continue
    for (const { after } of index.changesBy.get(call.invocation) ?? []) {
      if (after && OF_A_CHARGE.has(kindOf(after)))
        report(after.pk, `was written, but the reply was ${call.reply?.status}`)
    }
  }
  for (const [reference, { item, changes }] of index.debits) {
    if (changes[0] && !changes[0].by) continue
    const charge = index.charges.get(sent.chargeKey(item.provider, item.partnerReference))
    const mayHaveOpened = charge?.tries.some(
      ({ call }) => sent.isAccepted(call) || sent.isUnknown(call),
    )
    if (!mayHaveOpened) report(reference, 'exists, but its charge was rejected')
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** 2: every claim has its debit; deliveries and exceptions are checked by 14 and 31. */
export const namesHaveDebits: Check = ({ debits, claims }, report) => {
  for (const { pk, reference } of claims) {
    const debit = debits.get(reference)
    const names = debit && `${debit.item.provider}#${hashOf(debit.item.partnerReference)}`
    if (ownerIn(pk) !== names) report(pk, `claims ${reference}, which does not exist`)
  }
}

export const replayMatchesCharge: Check = (index, report) => {
  const debitOf = new Map(
    [...index.debits.values()].map((debit) => [
      sent.chargeKey(debit.item.provider, debit.item.partnerReference),
      debit,
    ]),
  )
  for (const [key, charge] of index.charges) {
    const debit = debitOf.get(key)
    for (const attempt of charge.tries) {
      if (sent.isAccepted(attempt.call)) checkAccepted(attempt, charge, debit, report)
      else if (attempt.call.reply) checkRejected(attempt, debit, index, report)
    }
  }
}

const checkAccepted = (
  attempt: sent.ChargeAttempt,
  { provider, partnerReference }: sent.ChargeHistory,
  debit: DebitHistory | undefined,
  report: Reporter,
): void => {
  const { reference, response } = sent.membersOf(attempt.reply.data)
  if (!debit || reference !== debit.item.reference) {
    report(`${provider} ${partnerReference}`, `a reply names ${reference}`)
    return
  }
  const about = debit.item.reference
  if (!sent.matchesRequest(attempt, debit.item)) report(about, 'was returned for another request')
  if (sent.membersOf(response).uuid !== debit.uuid) report(about, 'has another uuid')
  if (writtenAt(debit) > (attempt.call.reply?.at ?? 0)) report(about, 'was returned too early')
}

/** Rejected independently of the charge. */
const UNRELATED = new Set([401, 403, 429])

const checkRejected = (
  attempt: sent.ChargeAttempt,
  debit: DebitHistory | undefined,
  { providers }: ObservationIndex,
  report: Reporter,
): void => {
  const { call, fields } = attempt
  const status = call.reply?.status ?? 0
  if (status === 409) {
    const { reference, uuid } = sent.membersOf(attempt.reply.details)
    const isSame = reference === debit?.item.reference && uuid === debit?.uuid
    const about = debit?.item.reference ?? String(fields.partner_reference)
    if (!isSame) report(about, `a 409 names ${reference} ${uuid}`)
  }
  if (!debit || !sent.isRefused(call) || UNRELATED.has(status)) return
  if (writtenAt(debit) >= call.at || !sent.matchesRequest(attempt, debit.item)) return
  const isDuplicate = status === 409 && providers.get(debit.item.provider)?.duplicates === 'reject'
  if (!isDuplicate) report(debit.item.reference, `exists, but its repeat received ${status}`)
}

/** 9: a debit has the day of its charge. The reconciliation compares references and claims (47). */
export const referencesHaveTheirDay: Check = ({ debits }, report) => {
  for (const [reference, { item, createdAt }] of debits) {
    if (item.pk !== `DEBIT#${reference}`) report(reference, `has the key ${item.pk}`)
    if (reference.split('-')[1] !== dayOf(createdAt).replaceAll('-', ''))
      report(reference, 'has the day of another charge')
  }
}
