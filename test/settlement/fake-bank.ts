import type { PaymentConnector } from '../../shared/banks/connector.ts'
import type { Payout } from '../../shared/domain/settlement/payout.ts'

/** `later`: at the second request. */
export type PayoutBehaviour = 'pay' | 'reject' | 'pay later' | 'reject later'

export type FakeBank = ReturnType<typeof fakeBank>

/** Returns a bank that records the payouts it receives and makes. */
export const fakeBank = () => {
  /** One per new payout; further payouts are paid. */
  const behaviours: PayoutBehaviour[] = []
  const requests: Payout[] = []
  /** Amounts of the payouts made, by uuid. */
  const paid = new Map<string, number>()
  const nextOf = new Map<string, PayoutBehaviour>()

  const pay: PaymentConnector['pay'] = async (payout) => {
    const { uuid, amount } = payout
    requests.push(payout)
    const behaviour = nextOf.get(uuid) ?? behaviours.shift() ?? 'pay'
    nextOf.set(uuid, behaviour.replace(' later', '') as PayoutBehaviour)
    if (behaviour.endsWith(' later')) return { kind: 'underway' }
    if (behaviour === 'reject') return { kind: 'rejected', message: 'No such account' }
    paid.set(uuid, amount)
    return { kind: 'paid', bankReference: `B-${uuid.slice(0, 8)}` }
  }
  return { connectors: { sandbox: { pay }, http: { pay } }, behaviours, requests, paid }
}
