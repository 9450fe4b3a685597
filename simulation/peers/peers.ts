import type { Clock } from '../engine/clock.ts'
import type { Faults } from '../engine/faults.ts'
import type { HandOver, Post, Question } from '../engine/observations.ts'
import type { Chance } from '../engine/random.ts'
import type { Lives } from '../scenario/clients.ts'
import { hostOf, sceneProviders, secretOf } from '../scenario/fixtures.ts'
import { bankNames, type Plan } from '../scenario/scenario.ts'
import { newBank } from './bank.ts'
import type { Peer } from './network.ts'
import { newReceiver } from './receiver.ts'

/** Everybody whom the service calls, by host. */

type Around = {
  clock: Clock
  chance: Chance
  faults: Faults
  plan: Plan
  lives: Lives
  /** Where what reaches them is written down. */
  posts: Post[]
  handOvers: HandOver[]
  questions: Question[]
}

const MINUTE_MS = 60_000
const DOWNS = 3

const receivers = ({ clock, chance, faults, plan, posts }: Around): [string, Peer][] => {
  const answers = [...plan.answers]
  return sceneProviders.map(({ id }) => {
    const downs = Array.from({ length: DOWNS }, () => {
      const from = chance.pick(plan.lives).at + chance.between(-MINUTE_MS, 20 * MINUTE_MS)
      return { from, to: from + chance.between(MINUTE_MS, 40 * MINUTE_MS) }
    })
    return [hostOf(id), newReceiver({ clock, chance, faults, posts, downs, answers })]
  })
}

const banks = ({
  clock,
  chance,
  faults,
  plan,
  lives,
  handOvers,
  questions,
}: Around): [string, Peer][] => {
  const inTurn = () => {
    let turn = -1
    return () => {
      turn += 1
      return plan.payments[turn % plan.payments.length] ?? 'paid'
    }
  }
  const onPayment = inTurn()
  return bankNames.map((id) => {
    const bank = newBank({
      id,
      secret: secretOf(id),
      clock,
      chance,
      faults,
      handOvers,
      questions,
      outcomeOf: lives.outcomeOf,
      onSubmission: ({ narration }) => lives.named(narration)?.verdict ?? 'rejected',
      onAccepted: ({ narration, uuid }) => {
        const life = lives.named(narration)
        if (life) lives.taken(life, String(uuid))
      },
      onPayment,
      onRefund: inTurn(),
    })
    return [hostOf(id), bank]
  })
}

export const peersOf = (around: Around): ((host: string) => Peer) => {
  const peers = new Map([...receivers(around), ...banks(around)])
  return (host) => {
    const peer = peers.get(host)
    if (!peer) throw new Error(`Nobody is at ${host}`)
    return peer
  }
}
