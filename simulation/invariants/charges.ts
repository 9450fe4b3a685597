import { createHash } from 'node:crypto'
import type { SceneProvider } from '../engine/observations.ts'
import { type ChargeBook, type ChargeTry, chargeKey, isWhatWasAsked } from './charge-book.ts'
import type { Books, DebitBook } from './debit-histories.ts'
import { type Check, type Complain, together } from './invariant.ts'
import { type Kind, kindOf, ownerIn, type RawDebit } from './raw-items.ts'
import { isAccepted, isRefused, isUnknown, type Members, membersOf } from './reply.ts'
import { inGhs } from './time-and-money.ts'

/** 1, 2, 3: what becomes of a charge, whether its caller was told or not. */

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

const LASTING = new Set<Kind>(['debit', 'claim', 'pointer', 'batch', 'line', 'exception', 'refund'])

/** 1: nothing of it is ever taken away or changed. */
const staysAsItWas: Check = ({ witnessed, debits, nameChanges }, complain) => {
  for (const { after, before } of witnessed.changes) {
    if (!after && before && LASTING.has(kindOf(before))) complain(before.pk, 'was deleted')
  }
  for (const [reference, { changes }] of debits) {
    for (const { before, after } of changes) {
      if (!before || !after) continue
      for (const fact of FACTS) {
        if (before[fact] !== after[fact]) complain(reference, `another ${fact} was written`)
      }
      const { identifier, name } = before.bank
      if (after.bank.identifier !== identifier || after.bank.name !== name) {
        complain(reference, 'another bank was written')
      }
    }
  }
  for (const { before, after } of nameChanges) {
    const isSame = before?.reference === after?.reference && before?.request === after?.request
    if (before && after && !isSame) complain(after.pk, 'names another debit than before')
  }
}

/** 1: what was answered is there, and was there when it was answered. */
const isThereAsAnswered: Check = (books, complain) => {
  for (const { provider, partnerReference, tries } of books.charges.values()) {
    for (const one of tries) {
      if (!isAccepted(one.asked)) continue
      const data = dataOf(one)
      const reference = String(data.reference)
      const debit = books.debits.get(reference)
      if (!debit) {
        complain(reference, `was answered ${one.asked.reply?.status}, and is not there`)
        continue
      }
      const { item, changes } = debit
      const isOwn = item.provider === provider && item.partnerReference === partnerReference
      if (!isOwn) complain(reference, `was answered to ${provider} for ${partnerReference}`)
      if (membersOf(data.response).uuid !== item.uuid) complain(reference, 'has another uuid')
      const writtenAt = changes[0]?.at ?? Number.POSITIVE_INFINITY
      if (writtenAt > (one.asked.reply?.at ?? 0)) complain(reference, 'was answered too early')
    }
  }
}

const dataOf = ({ told }: ChargeTry): Members => membersOf(told.data)

/** 1: whoever reads it finds it, as it was charged. */
const isReadAsCharged: Check = ({ witnessed, debits }, complain) => {
  for (const { name, caller, path, at, reply } of witnessed.asked) {
    if (name !== 'get-debit-request' || !reply) continue
    const debit = debits.get(String(path.reference))
    if (debit?.item.provider !== caller?.id || !debit) continue
    const { reference, uuid, amount } = debit.item
    const wasThere = (debit.changes[0]?.at ?? Number.POSITIVE_INFINITY) < at
    if (reply.status === 404 && wasThere) complain(reference, 'was not found')
    if (reply.status !== 200) continue
    const data = membersOf(membersOf(reply.body).data)
    const isSame = data.reference === reference && data.uuid === uuid && data.currency === 'GHS'
    if (!isSame || data.amount !== inGhs(amount)) complain(reference, 'was read otherwise')
  }
}

export const lasts = together(staysAsItWas, isThereAsAnswered, isReadAsCharged)

const OF_A_CHARGE = new Set<Kind>(['debit', 'claim', 'pointer', 'day total'])

/** 2: what was refused has written nothing, and nothing stands of what was refused each time. */
export const leavesNothing: Check = (books, complain) => {
  for (const asked of books.witnessed.asked) {
    if (asked.name !== 'charge' || !isRefused(asked) || asked.invocation === undefined) continue
    for (const { after } of books.byInvocation.get(asked.invocation) ?? []) {
      if (after && OF_A_CHARGE.has(kindOf(after))) {
        complain(after.pk, `was written, and the answer was ${asked.reply?.status}`)
      }
    }
  }
  for (const [reference, { item, changes }] of books.debits) {
    if (changes[0] && !changes[0].by) continue
    const charge = books.charges.get(chargeKey(item.provider, item.partnerReference))
    const mayHaveOpened = charge?.tries.some(({ asked }) => isAccepted(asked) || isUnknown(asked))
    if (!mayHaveOpened) complain(reference, 'is there, and whoever asked for it was refused')
  }
  nothingIsLeftOver(books, complain)
}

/** Whatever belongs to a debit has its debit. */
const nothingIsLeftOver = (books: Books, complain: Complain): void => {
  const { debits, batches, claims, pointers, deliveries, exceptions } = books
  for (const { pk, reference } of claims) {
    const debit = debits.get(reference)
    const names = debit && `${debit.item.provider}#${hashOf(debit.item.partnerReference)}`
    if (ownerIn(pk) !== names) complain(pk, `is a claim of ${reference}, which is not there`)
  }
  for (const { pk, reference } of pointers) {
    const isDebits = debits.get(reference)?.item.uuid === ownerIn(pk)
    if (!isDebits) complain(pk, `points to ${reference}, which is not there`)
  }
  for (const { item } of deliveries.values()) {
    const isOfSomething = debits.has(item.reference) || batches.has(item.reference)
    if (!isOfSomething) complain(item.pk, 'is owed of nothing')
  }
  for (const { pk, reference } of exceptions) {
    if (!debits.has(reference)) complain(pk, 'is an exception of no debit')
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Refused for what has nothing to do with the charge itself. */
const BESIDE = new Set([401, 403, 429])

/** 3: a charge is there once or not at all, and who asks again is told which. */
export const isToldAgain: Check = (books, complain) => {
  const debitOf = new Map<string, DebitBook>()
  for (const debit of books.debits.values()) {
    const key = chargeKey(debit.item.provider, debit.item.partnerReference)
    if (debitOf.has(key)) complain(debit.item.reference, `is a second debit of one charge`)
    debitOf.set(key, debit)
  }
  for (const [key, charge] of books.charges) {
    const debit = debitOf.get(key)
    const provider = books.providers.get(charge.provider)
    for (const one of charge.tries) judgeTry(one, { charge, debit, provider, complain })
  }
}

type Around = {
  charge: ChargeBook
  debit: DebitBook | undefined
  provider: SceneProvider | undefined
  complain: Complain
}

const judgeTry = (one: ChargeTry, { charge, debit, provider, complain }: Around): void => {
  const { asked, request } = one
  const { reply, at } = asked
  if (!reply) return
  const about = debit?.item.reference ?? `${charge.provider} ${charge.partnerReference}`
  if (isAccepted(asked)) {
    const named = dataOf(one).reference
    if (named !== debit?.item.reference) complain(about, `one answer names ${named}`)
    const isSame = debit && isWhatWasAsked(request, debit.item)
    if (debit && !isSame) complain(about, 'was answered to who asked for something else')
    return
  }
  if (reply.status === 409) {
    const { reference, uuid } = membersOf(one.told.details)
    const isSame = reference === debit?.item.reference && uuid === debit?.item.uuid
    if (!isSame) complain(about, `a refusal names ${reference} ${uuid}`)
  }
  if (!debit || !isRefused(asked) || BESIDE.has(reply.status)) return
  const wasThere = (debit.changes[0]?.at ?? Number.POSITIVE_INFINITY) < at
  if (!wasThere || !isWhatWasAsked(request, debit.item)) return
  if (reply.status === 409 && provider?.duplicates === 'reject') return
  complain(about, `is there, and who asked again was told ${reply.status}`)
}
