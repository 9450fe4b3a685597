import type { Check } from './invariant.ts'
import { dayOf } from './time-and-money.ts'

/** 9, 10: names that nothing else has. */

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** 9: every debit has a reference and a uuid, and a pointer leads from the one to the other. */
export const isNamedRightly: Check = ({ witnessed, debits, byUuid, pointers }, complain) => {
  const shape = new RegExp(`^${witnessed.scene.referencePrefix}-[0-9]{8}-[A-Z0-9]{6}$`)
  const pointed = new Map(pointers.map((pointer) => [pointer.pk, pointer]))
  for (const [reference, book] of debits) {
    const { pk, uuid, provider, amount } = book.item
    if (!shape.test(reference)) complain(reference, 'is no reference')
    if (pk !== `DEBIT#${reference}`) complain(reference, `lies under ${pk}`)
    if (reference.split('-')[1] !== dayOf(book.createdAt).replaceAll('-', '')) {
      complain(reference, 'is of another day than its charge')
    }
    if (!UUID_V4.test(uuid)) complain(reference, `has ${uuid} for a uuid`)
    if (byUuid.get(uuid) !== book) complain(reference, `has the uuid of another, ${uuid}`)
    const pointer = pointed.get(`UUID#${uuid}`)
    const isSame = pointer?.provider === provider && pointer.amount === amount
    if (pointer?.reference !== reference || !isSame) {
      complain(reference, 'is not what its uuid points to')
    }
  }
}

/** 10: a provider's own reference names one debit, for ever. */
export const isClaimedOnce: Check = ({ debits, claims }, complain) => {
  const owners = new Map<string, string>()
  for (const { reference, provider, partnerReference } of itemsOf(debits)) {
    const own = `${provider}\u0000${partnerReference}`
    const other = owners.get(own)
    if (other) complain(reference, `has ${partnerReference} of ${provider}, as ${other} has`)
    owners.set(own, reference)
  }
  const claimed = new Set(claims.map(({ reference }) => reference))
  for (const reference of debits.keys()) {
    if (!claimed.has(reference))
      complain(reference, 'has no claim on the reference of its provider')
  }
}

function* itemsOf<T>(books: ReadonlyMap<string, { item: T }>): Generator<T> {
  for (const { item } of books.values()) yield item
}
