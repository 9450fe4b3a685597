import type { Check } from './invariant.ts'
import { dayOf } from './time-and-money.ts'

/** 9, 10: names that nothing else has. */

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** 9: every debit has a reference and a uuid, and a pointer leads from the one to the other. */
export const idsAreUnique: Check = ({ observations, debits, byUuid, pointers }, report) => {
  const shape = new RegExp(`^${observations.setup.referencePrefix}-[0-9]{8}-[A-Z0-9]{6}$`)
  const pointed = new Map(pointers.map((pointer) => [pointer.pk, pointer]))
  for (const [reference, history] of debits) {
    const { pk, uuid, provider, amount } = history.item
    if (!shape.test(reference)) report(reference, 'is no reference')
    if (pk !== `DEBIT#${reference}`) report(reference, `lies under ${pk}`)
    if (reference.split('-')[1] !== dayOf(history.createdAt).replaceAll('-', '')) {
      report(reference, 'is of another day than its charge')
    }
    if (!UUID_V4.test(uuid)) report(reference, `has ${uuid} for a uuid`)
    if (byUuid.get(uuid) !== history) report(reference, `has the uuid of another, ${uuid}`)
    const pointer = pointed.get(`UUID#${uuid}`)
    const isSame = pointer?.provider === provider && pointer.amount === amount
    if (pointer?.reference !== reference || !isSame) {
      report(reference, 'is not what its uuid points to')
    }
  }
}

/** 10: a provider's own reference names one debit, for ever. */
export const referenceIsClaimedOnce: Check = ({ debits, claims }, report) => {
  const owners = new Map<string, string>()
  for (const { reference, provider, partnerReference } of itemsOf(debits)) {
    const own = `${provider}\u0000${partnerReference}`
    const other = owners.get(own)
    if (other) report(reference, `has ${partnerReference} of ${provider}, as ${other} has`)
    owners.set(own, reference)
  }
  const claimed = new Set(claims.map(({ reference }) => reference))
  for (const reference of debits.keys()) {
    if (!claimed.has(reference)) report(reference, 'has no claim on the reference of its provider')
  }
}

function* itemsOf<T>(index: ReadonlyMap<string, { item: T }>): Generator<T> {
  for (const { item } of index.values()) yield item
}
