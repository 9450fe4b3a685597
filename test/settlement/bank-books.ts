import type { PayoutConnector } from '../../shared/banks/payout-connector.ts'
import type { Payout, PayoutResult } from '../../shared/domain/settlement/payout.ts'
import { met } from './meeting.ts'

/** A bank that keeps books of what it was told to pay. */

export type Conduct =
  | 'pay'
  | 'reject'
  /** Pays when it is asked again. */
  | 'take its time'
  /** Says no when it is asked again. */
  | 'take its time to reject'
  /** Pays, and nobody hears of it. */
  | 'pay unheard'
  /** Never hears of the payment. */
  | 'hear nothing'

export type BankBooks = {
  connector: PayoutConnector
  /** How the next new payments are treated, before all others are paid. */
  conducts: Conduct[]
  instructions: Payout[]
  /** What was paid, by uuid. */
  paid: Map<string, { batch: string; provider: string; amount: bigint }>
}

export const bankBooks = (): BankBooks => {
  const conducts: Conduct[] = []
  const instructions: Payout[] = []
  const paid: BankBooks['paid'] = new Map()
  const lastWords = new Map<string, PayoutResult>()
  const underway = new Map<string, Conduct>()

  const pay = ({ uuid, batch, provider, amount }: Payout): PayoutResult => {
    paid.set(uuid, { batch, provider, amount: BigInt(amount) })
    const said: PayoutResult = { kind: 'paid', bankReference: `B-${uuid.slice(0, 8)}` }
    lastWords.set(uuid, said)
    return said
  }

  const answer = (instruction: Payout): PayoutResult => {
    const { uuid } = instruction
    const known = lastWords.get(uuid)
    if (known) return known
    const conduct = underway.get(uuid) ?? conducts.shift() ?? 'pay'
    switch (conduct) {
      case 'pay':
        return pay(instruction)
      case 'reject': {
        const said: PayoutResult = { kind: 'rejected', message: 'No such account' }
        lastWords.set(uuid, said)
        return said
      }
      case 'take its time':
      case 'take its time to reject':
        underway.set(uuid, conduct === 'take its time' ? 'pay' : 'reject')
        return { kind: 'underway' }
      case 'pay unheard':
        pay(instruction)
        throw new Error('The answer is lost')
      case 'hear nothing':
        throw new Error('The instruction is lost')
    }
  }

  return {
    connector: {
      pay: (instruction) =>
        met({ name: 'pay', isWrite: true }, async () => {
          instructions.push(instruction)
          return answer(instruction)
        }),
    },
    conducts,
    instructions,
    paid,
  }
}

/** What a bank should never have been told. */
export const strangeInstructions = ({ instructions }: BankBooks): string[] =>
  [...Map.groupBy(instructions, ({ uuid }) => uuid)].flatMap(([uuid, all]) => {
    const said = new Set(all.map(({ repeated: _, ...rest }) => JSON.stringify(rest)))
    const first = all.filter(({ repeated }) => !repeated)
    const amount = all[0]?.amount ?? 0
    return [
      ...(said.size > 1 ? [`${uuid} in different words`] : []),
      ...(first.length > 1 ? [`${uuid} twice as if for the first time`] : []),
      ...(amount <= 0 ? [`${uuid} of ${amount}`] : []),
    ]
  })
