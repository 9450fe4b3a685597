import type { Asked } from '../engine/observations.ts'
import type { Books, DebitBook } from './debit-histories.ts'
import { type Check, type Complain, together } from './invariant.ts'
import { isAccepted } from './reply.ts'
import { debitNumber } from './time-and-money.ts'

/** 32: what is of another is as if it were not there. */

/** Refused before anybody looked for it, or in a fault of the service. */
const BESIDE = new Set([400, 401, 403, 422, 429])

const isDenied = ({ reply }: Asked): boolean =>
  !reply || reply.status === 404 || reply.status >= 500 || BESIDE.has(reply.status)

const isOwn = ({ caller }: Asked, { item }: DebitBook): boolean =>
  caller?.id === (caller?.kind === 'bank' ? item.bank.identifier : item.provider)

const isReadByItsOwn: Check = ({ witnessed, debits }, complain) => {
  for (const asked of witnessed.asked) {
    if (asked.name !== 'get-debit-request') continue
    const debit = debits.get(String(asked.path.reference))
    if (debit && !isOwn(asked, debit) && !isDenied(asked)) {
      complain(debit.item.reference, `was shown to ${asked.caller?.id}`)
    }
  }
}

/** A delivery is named by its debit's number and that of the event. */
const EVENTS_MAX = 100

const isRedeliveredToItsOwn: Check = (books, complain) => {
  const byNumber = new Map([...books.debits].map(([name, debit]) => [debitNumber(name), debit]))
  for (const asked of books.witnessed.asked) {
    if (asked.name !== 'redeliver-event') continue
    const debit = byNumber.get(Math.floor(Number(asked.path.id) / EVENTS_MAX))
    if (debit && !isOwn(asked, debit) && !isDenied(asked)) {
      complain(debit.item.reference, `was redelivered for ${asked.caller?.id}`)
    }
  }
}

const isChangedByItsOwn: Check = (books, complain) => {
  for (const { asked, uuid, bank, code } of books.reports) {
    const debit = books.byUuid.get(uuid)
    if (!debit || isOwn(asked, debit)) continue
    const about = debit.item.reference
    // That it cannot go from a status tells that it is there.
    if (isAccepted(asked) || code === 3001) complain(about, `was reported on by ${bank}`)
    judgeWrites(asked, debit, books, complain)
  }
}

const judgeWrites = (
  { invocation, caller }: Asked,
  { item }: DebitBook,
  { byInvocation }: Books,
  complain: Complain,
): void => {
  const writes = invocation === undefined ? [] : (byInvocation.get(invocation) ?? [])
  if (writes.some(({ after }) => after?.pk === item.pk)) {
    complain(item.reference, `was changed by ${caller?.id}`)
  }
}

export const isOfItsOwner = together(isReadByItsOwn, isRedeliveredToItsOwn, isChangedByItsOwn)
