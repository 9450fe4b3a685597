import type { HandOver } from '../engine/observations.ts'
import type { DebitBook } from './debit-histories.ts'
import type { Check, Complain } from './invariant.ts'
import { inGhs } from './time-and-money.ts'

/** 11: a bank acts on a debit once, however often it is handed over. */
export const isSubmittedOnce: Check = ({ witnessed, byUuid }, complain) => {
  const submissions = witnessed.handOvers.filter(({ path }) => path === '/submissions')
  for (const [uuid, handed] of Map.groupBy(submissions, ({ body }) => String(body.uuid))) {
    const debit = byUuid.get(uuid)
    const effective = handed.filter((one) => one.effective).length
    if (effective > 1) complain(uuid, `was acted on ${effective} times`)
    if (new Set(handed.map(({ body }) => JSON.stringify(body))).size > 1) {
      complain(uuid, 'was handed over with other bytes')
    }
    for (const one of handed) {
      if (one.idempotencyKey !== uuid) complain(uuid, `has the key ${one.idempotencyKey}`)
      judge(one, debit, complain)
    }
  }
}

const judge = (handed: HandOver, debit: DebitBook | undefined, complain: Complain): void => {
  const { body, bank, at } = handed
  if (!debit) {
    complain(String(body.uuid), 'was handed over, and is not there')
    return
  }
  const { item, changes } = debit
  const isAsCharged =
    bank === item.bank.identifier &&
    body.reference === item.reference &&
    body.phone_number === item.phone &&
    body.narration === item.narration &&
    body.currency === 'GHS' &&
    body.amount === inGhs(item.amount)
  if (!isAsCharged) complain(item.reference, `was handed to ${bank} as something else`)
  if ((changes[0]?.at ?? Number.POSITIVE_INFINITY) > at) {
    complain(item.reference, 'was handed over before it was there')
  }
}
