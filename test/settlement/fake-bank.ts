import type { PayoutConnector } from '../../shared/banks/connector.ts'
import type { Payout, PayoutResult } from '../../shared/domain/settlement/payout.ts'

/** A bank that records the payouts it receives and makes. */

/** `later`: at the second request. */
export type PayoutBehaviour = 'pay' | 'reject' | 'pay later' | 'reject later' | 'pay without reply'

export type FakeBank = {
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

  const reply = ({ uuid, amount }: Payout): PayoutResult => {
    const known = results.get(uuid)
    if (known) return known
    const behaviour = underway.get(uuid) ?? behaviours.shift() ?? 'pay'
    if (behaviour.endsWith(' later')) {
      underway.set(uuid, behaviour === 'pay later' ? 'pay' : 'reject')
      return { kind: 'underway' }
    }
    const result: PayoutResult =
      behaviour === 'reject'
        ? { kind: 'rejected', message: 'No such account' }
        : { kind: 'paid', bankReference: `B-${uuid.slice(0, 8)}` }
    results.set(uuid, result)
    if (result.kind === 'paid') paid.set(uuid, amount)
    if (behaviour === 'pay without reply') throw new Error('The reply is lost')
    return result
  }

  const connector: PayoutConnector = {
    pay: async (payout) => {
      requests.push(payout)
      return reply(payout)
    },
  }
  return { connectors: { sandbox: connector, http: connector }, behaviours, requests, paid }
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
