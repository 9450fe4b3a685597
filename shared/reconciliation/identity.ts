import { type CheckResult, checkResult, notApplicable } from './invariants.ts'
import type { DebitRecord } from './related.ts'
import type { Window } from './window.ts'

/** Compares a debit with the copy of its facts under its uuid. Invariant 9 reports a missing copy. */
export const existsAsAccepted = ({ debit: { facts }, pointer }: DebitRecord): CheckResult => {
  if (pointer?.reference !== facts.reference) return { ...notApplicable, checked: 1 }
  return checkResult({
    'its amount differs from the accepted one': pointer.amount !== facts.amount,
    'its provider differs from the accepted one': pointer.provider !== facts.provider,
    'its uuid differs from the accepted one': pointer.uuid !== facts.uuid,
  })
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const AFTER_PREFIX = /^-[0-9]{8}-[A-Z0-9]{6}$/

/** Also finds two debits with one uuid, because the uuid points to only one of them. */
export const isNamed = (
  { debit: { facts }, pointer }: DebitRecord,
  { prefix }: Window,
): CheckResult => {
  const { reference, uuid } = facts
  const isReference =
    reference.startsWith(prefix) && AFTER_PREFIX.test(reference.slice(prefix.length))
  return checkResult({
    'its reference is malformed': !isReference,
    'its uuid is not a version 4 uuid': !UUID.test(uuid),
    'its uuid has no pointer': pointer === undefined,
    [`its uuid points to ${pointer?.reference}`]:
      pointer !== undefined && pointer.reference !== reference,
  })
}

export const isClaimed = ({ debit: { facts }, claimedBy }: DebitRecord): CheckResult =>
  checkResult({
    "its provider's reference points to nothing": claimedBy === undefined,
    [`its provider's reference points to ${claimedBy}`]:
      claimedBy !== undefined && claimedBy !== facts.reference,
  })
