import type { Engine } from '../engine/faults.ts'
import type { Peer } from '../engine/network.ts'
import type { BankPost, BankQuery, Post } from '../engine/observations.ts'
import { MINUTE_MS, SECOND_MS } from '../invariants/time-and-money.ts'
import type { Clients } from '../scenario/clients.ts'
import { hostOf, secretsOf, simulatedProviders } from '../scenario/fixtures.ts'
import type { PaymentResult, Scenario } from '../scenario/scenario.ts'
import { bankNames } from '../scenario/script.ts'
import { newBank } from './bank.ts'
import type { Books } from './books.ts'
import { newReceiver } from './receiver.ts'

type Deps = Engine & {
  scenario: Scenario
  clients: Clients
  books: Books
  posts: Post[]
  bankPosts: BankPost[]
  queries: BankQuery[]
}

const DOWNS = 3
/** The queries after which a bank ends a payment, if it ends any. */
const QUERIES_MAX = 10

const receivers = (deps: Deps): [string, Peer][] => {
  const { random, scenario } = deps
  const answers = [...scenario.answers]
  return simulatedProviders.map(({ id }) => {
    const downs = Array.from({ length: DOWNS }, () => {
      const from = random.pick(scenario.scripts).at + random.between(-MINUTE_MS, 20 * MINUTE_MS)
      return { from, to: from + random.between(MINUTE_MS, 40 * MINUTE_MS) }
    })
    return [hostOf(id), newReceiver({ ...deps, downs, answers })]
  })
}

const inTurn = (results: readonly PaymentResult[]) => {
  let turn = -1
  return () => {
    turn += 1
    return results[turn % results.length] ?? 'paid'
  }
}

const banks = (deps: Deps): [string, Peer][] => {
  const { clock, random, faults, scenario, clients } = deps
  const outage = () => {
    const from = random.pick(scenario.scripts).at + random.between(-MINUTE_MS, MINUTE_MS)
    // As many short outages as long ones, from ten seconds to a day; half last while debits can wait.
    const to = random.happens(0.5)
      ? from + random.between(2 * MINUTE_MS, 7 * MINUTE_MS)
      : from + 10 * SECOND_MS * 8_640 ** random.draw()
    return (): boolean => {
      if (clock.now() < from || clock.now() >= to || !faults.has('bank outage')) return false
      faults.hit('bank outage')
      return true
    }
  }
  const onPayment = inTurn(scenario.payments)
  // A bank whose connector operators remove meanwhile could not end a payment.
  const isLate =
    scenario.faults.has('bank pays late') &&
    !scenario.changes.some(({ verb }) => verb === 'connector remove')
  const final = scenario.endings.filter((one) => one !== 'underway')
  const ending = inTurn(isLate || final.length === 0 ? final : scenario.endings)
  // In turn, a payment of several could have every turn without an end.
  const end = inTurn(final)
  const onQuery = (queries: number): PaymentResult => {
    if (isLate && faults.strikes('bank pays late')) return 'underway'
    return queries < QUERIES_MAX || final.length === 0 ? ending() : end()
  }
  return bankNames.flatMap((id) => {
    const bank = newBank({
      ...deps,
      id,
      secrets: secretsOf(id),
      isIdempotent: scenario.isIdempotent,
      isOut: outage(),
      outcomeOf: clients.outcomeOf,
      onSubmission: ({ narration }) => clients.named(narration)?.verdict ?? 'rejected',
      onAccepted: (body) => {
        const script = clients.named(body.narration)
        // A repeated charge can name another bank.
        if (script) clients.accepted({ ...script, bank: id }, body)
      },
      onPayment,
      onRefund: inTurn(scenario.payments),
      onQuery,
    })
    return [id, `${id}2`].map((name): [string, Peer] => [hostOf(name), bank])
  })
}

export const peersOf = (deps: Deps): ((host: string) => Peer) => {
  const peers = new Map([...receivers(deps), ...banks(deps)])
  return (host) => {
    const peer = peers.get(host)
    if (!peer) throw new Error(`Nobody is at ${host}`)
    return peer
  }
}
