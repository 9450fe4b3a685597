import { type Random, randomOf, seedOf } from '../engine/random.ts'
import { dayOf, HOUR_MS, inGhs } from '../invariants/time-and-money.ts'
import type { Api } from '../peers/api.ts'
import type { Books } from '../peers/books.ts'
import { type Operators, resultOf } from '../peers/operators.ts'
import type { Scenario } from './scenario.ts'
import { HTTP_BANKS } from './script.ts'

/** The remittances of the banks, and the operators who record and correct them, some with a typing error. */

type Deps = { api: Api; operators: Operators; books: Books }

type Recorded = { bank: string; reference: string; amount: string }

/** Records the remittances that the service lacks, and corrects those that differ. */
const record = async ({ operators, books }: Deps, random: Random): Promise<void> => {
  const list = await operators.operate('funding', 'list', { limit: '100' })
  const recorded = new Map(
    ((resultOf(list) ?? []) as Recorded[]).map((one) => [`${one.bank} ${one.reference}`, one]),
  )
  for (const { bank, of: reference, amount: booked, at } of books.remittances()) {
    const right = -booked
    const known = recorded.get(`${bank} ${reference}`)
    const typed = inGhs(random.pick([right, right, right * 10, Math.ceil(right / 10)]))
    const funding = { bank, reference }
    if (!known) {
      await operators.operate('funding', 'record', { ...funding, amount: typed, date: dayOf(at) })
    } else if (known.amount !== inGhs(right)) {
      for (const amount of new Set([typed, inGhs(right)])) {
        await operators.operate('funding', 'correct', {
          ...funding,
          amount,
          reason: 'Typing error',
        })
      }
    }
  }
}

/** With the second one, payouts wait for the remittance of the day. */
const DELAYS_MS = [0, 40 * HOUR_MS]

export const startRemittances = ({ seed, rounds }: Scenario, deps: Deps): void => {
  const random = randomOf(seedOf(seed, 10, 1))
  const delay = random.pick(DELAYS_MS)
  for (const at of rounds) {
    void deps.api.until(at).then(() => {
      for (const bank of HTTP_BANKS) {
        deps.books.remit(bank, `REMITTANCE-${at}`, at - delay)
      }
      return record(deps, random)
    })
  }
}
