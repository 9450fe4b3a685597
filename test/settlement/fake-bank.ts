import type { PayoutConnector } from '../../shared/banks/connector.ts'
import type { Payout, PayoutResult } from '../../shared/domain/settlement/payout.ts'

/** A bank that records the payouts it receives and makes. */

export type PayoutBehaviour =
  | 'pay'
  | 'reject'
  /** Decides at the second request. */
  | 'pay later'
  | 'reject later'
  | 'pay without reply'
  | 'lose the request'

export type FakeBank = {
  connector: PayoutConnector
  connectors: Record<'sandbox' | 'http', PayoutConnector>
  /** One per new payout; further payouts are paid. */
  behaviours: PayoutBehaviour[]
  requests: Payout[]
  /** Amounts of the payouts made, by uuid. */
  paid: Map<string, number>
}

export const fakeBank = (): FakeBank => {
  const behaviours: PayoutBehaviour[] = []
  const requests: Payout[] = []
  const paid: FakeBank['paid'] = new Map()
  const results = new Map<string, PayoutResult>()
  const underway = new Map<string, PayoutBehaviour>()

  const decide = (uuid: string, result: PayoutResult): PayoutResult => {
    results.set(uuid, result)
    return result
  }
  const pay = ({ uuid, amount }: Payout): PayoutResult => {
    paid.set(uuid, amount)
    return decide(uuid, { kind: 'paid', bankReference: `B-${uuid.slice(0, 8)}` })
  }

  const reply = (payout: Payout): PayoutResult => {
    const { uuid } = payout
    const result = results.get(uuid)
    if (result) return result
    const behaviour = underway.get(uuid) ?? behaviours.shift() ?? 'pay'
    switch (behaviour) {
      case 'pay':
        return pay(payout)
      case 'reject':
        return decide(uuid, { kind: 'rejected', message: 'No such account' })
      case 'pay later':
      case 'reject later':
        underway.set(uuid, behaviour === 'pay later' ? 'pay' : 'reject')
        return { kind: 'underway' }
      case 'pay without reply':
        pay(payout)
        throw new Error('The reply is lost')
      case 'lose the request':
        throw new Error('The request is lost')
    }
  }

  const connector: PayoutConnector = {
    pay: async (payout) => {
      requests.push(payout)
      return reply(payout)
    },
  }
  return {
    connector,
    connectors: { sandbox: connector, http: connector },
    behaviours,
    requests,
    paid,
  }
}

/** Returns violations of the payout protocol: one uuid, one content, first sent once, above zero. */
export const protocolViolations = ({ requests }: FakeBank): string[] =>
  [...Map.groupBy(requests, ({ uuid }) => uuid)].flatMap(([uuid, same]) => {
    const contents = new Set(same.map(({ repeated: _, ...content }) => JSON.stringify(content)))
    const first = same.filter(({ repeated }) => !repeated)
    const amount = same[0]?.amount ?? 0
    return [
      ...(contents.size > 1 ? [`${uuid} has several contents`] : []),
      ...(first.length > 1 ? [`${uuid} was sent as new more than once`] : []),
      ...(amount <= 0 ? [`${uuid} has the amount ${amount}`] : []),
    ]
  })
