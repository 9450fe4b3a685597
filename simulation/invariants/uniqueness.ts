import type { Check } from './invariant.ts'
import { dayOf } from './time-and-money.ts'

/** 9, 10: unique names. */

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** 9: every debit has a unique reference and uuid, and a pointer between them. */
export const idsAreUnique: Check = ({ observations, debits, byUuid, pointers }, report) => {
  const shape = new RegExp(`^${observations.setup.referencePrefix}-[0-9]{8}-[A-Z0-9]{6}$`)
  const pointed = new Map(pointers.map((pointer) => [pointer.pk, pointer]))
  for (const [reference, history] of debits) {
    const { pk, uuid, provider, amount } = history.item
    if (!shape.test(reference)) report(reference, 'is not a valid reference')
    if (pk !== `DEBIT#${reference}`) report(reference, `has the key ${pk}`)
    if (reference.split('-')[1] !== dayOf(history.createdAt).replaceAll('-', '')) {
      report(reference, 'has the day of another charge')
    }
    if (!UUID_V4.test(uuid)) report(reference, `has the invalid uuid ${uuid}`)
    if (byUuid.get(uuid) !== history) report(reference, `shares the uuid ${uuid}`)
    const pointer = pointed.get(`UUID#${uuid}`)
    const isSame = pointer?.provider === provider && pointer.amount === amount
    if (pointer?.reference !== reference || !isSame) {
      report(reference, 'differs from its uuid pointer')
    }
  }
}

/** 10: a provider's reference belongs to one debit forever. */
export const referenceIsClaimedOnce: Check = ({ debits, claims }, report) => {
  const owners = new Map<string, string>()
  for (const { reference, provider, partnerReference } of itemsOf(debits)) {
    const own = `${provider}\u0000${partnerReference}`
    const other = owners.get(own)
    if (other) report(reference, `shares ${partnerReference} of ${provider} with ${other}`)
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
