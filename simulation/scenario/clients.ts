import type { Clock } from '../engine/clock.ts'
import type { Asked } from '../engine/observations.ts'
import type { Chance } from '../engine/random.ts'
import type { Api } from '../peers/api.ts'
import { sceneProviders } from './fixtures.ts'
import { bankNames, type Life, PROVIDERS, type Report } from './scenario.ts'

/** Debits as those live through them who ask for them: the provider, the bank, an operator. */

type Around = { api: Api; clock: Clock; chance: Chance }

export type Lives = ReturnType<typeof newLives>

// biome-ignore lint/suspicious/noExplicitAny: a reply is looked into, member by member
const dataIn = (asked: Asked | undefined): any =>
  (asked?.reply?.body as { data?: unknown } | undefined)?.data

const providerOf = ({ provider }: Life) => ({
  kind: 'provider' as const,
  id: sceneProviders[provider]?.id ?? '',
})

/** To whom what is asked for is as if it were not. */
const strangerTo = (life: Life) =>
  providerOf({ ...life, provider: (life.provider + 1) % PROVIDERS })

/** The same for the same life, but for its amount where something else is asked for. */
const bodyOf = (life: Life, amount = life.amount) => ({
  phone_number: life.phone,
  bank_identifier: life.bank,
  amount,
  currency: 'GHS',
  narration: `Life ${life.n}`,
  // Providers name theirs alike, as they know nothing of each other.
  partner_reference: `order-${Math.floor(life.n / PROVIDERS)}`,
  ...(life.n % 5 === 0 ? { metadata: { cart: `c-${life.n}` } } : {}),
})

/** Each of these is refused, and leaves nothing behind. */
const WRONG: readonly object[] = [
  { amount: '0.99' },
  { amount: '10000.01' },
  { amount: 100.5 },
  { currency: 'USD' },
  { bank_identifier: 'NONE1' },
  { phone_number: '0241234567' },
  { partner_reference: '' },
]

export const newLives = ({ api, clock, chance }: Around) => {
  /** By its uuid, as its bank knows it. */
  const byNumber = new Map<number, Life>()
  /** When the bank took each debit, by its uuid. */
  const takenAt = new Map<string, { life: Life; at: number }>()

  const until = (at: number): Promise<void> => api.sleep(Math.max(0, at - clock.now()))

  const charge = (life: Life, more: object = {}) =>
    api.ask({ name: 'charge', caller: providerOf(life), body: { ...bodyOf(life), ...more } })

  const poll = async (life: Life, reference: string): Promise<void> => {
    for (const seconds of life.polls) {
      await until(life.at + seconds * 1000)
      const name = 'get-debit-request' as const
      await api.ask({ name, caller: providerOf(life), path: { reference } })
      await api.ask({ name, caller: strangerTo(life), path: { reference } })
    }
  }

  const reverse = async (life: Life, reference: string): Promise<void> => {
    if (life.reversed === undefined) return
    await until(life.at + life.reversed * 1000)
    await api.operate('manage-debit', 'reverse', { reference, reason: `Life ${life.n}` })
  }

  /** Asks for one more attempt at one of its first events. */
  const redeliver = async (life: Life, reference: string): Promise<void> => {
    if (life.redelivered === undefined) return
    await until(life.at + life.redelivered * 1000)
    const caller = providerOf(life)
    const status = await api.ask({ name: 'get-debit-request', caller, path: { reference } })
    // The number of a delivery is that of the debit, and of the event.
    const id = Number(String(dataIn(status)?.id).replace('dt_', '')) * 100 + chance.below(3)
    const name = 'redeliver-event' as const
    await api.ask({ name, caller, path: { id: String(id) } })
    await api.ask({ name, caller: strangerTo(life), path: { id: String(id) } })
  }

  /** A bank's word about a debit, said until it is heard. */
  const report = async (life: Life, uuid: string, n: number): Promise<void> => {
    const said = life.reports[n]
    if (!said) return
    if (said.flaw === 'lost') return
    const name = said.by === 'update' ? 'update-debit-transaction' : 'debit-callback'
    const body = {
      status: said.status,
      ...(said.flaw === 'rejected' ? {} : { bank_reference: `B-${uuid.slice(0, 8)}` }),
      ...(said.status === 'failed' ? { error_message: 'Declined' } : { approval_method: 'ussd' }),
      ...(said.fee ? { fee: said.fee } : {}),
    }
    await api.sleep(said.afterSeconds * 1000)
    if (life.n % 7 === 0) {
      const other = bankNames[(bankNames.indexOf(life.bank) + 1) % bankNames.length] ?? life.bank
      await api.ask({ name, caller: { kind: 'bank', id: other }, path: { uuid }, body })
    }
    await api.ask({ name, caller: { kind: 'bank', id: life.bank }, path: { uuid }, body })
  }

  return {
    /** The life that a bank is told of. */
    named: (narration: unknown): Life | undefined =>
      byNumber.get(Number(String(narration).replace('Life ', ''))),
    /** From the charge on. */
    live: async (life: Life): Promise<void> => {
      byNumber.set(life.n, life)
      await until(life.at)
      if (life.asks === 'wrongly') {
        await charge(life, chance.pick(WRONG))
        return
      }
      const charged = await charge(life)
      const data = dataIn(charged)
      if (life.asks === 'again') await charge(life)
      if (life.asks === 'otherwise') await charge(life, { amount: '1.23' })
      if (!data?.reference) return
      await Promise.all([
        poll(life, data.reference),
        reverse(life, data.reference),
        redeliver(life, data.reference),
      ])
    },
    /** The outcome that a bank has by now, which it names when it is asked. */
    outcomeOf: (uuid: string): Report | undefined => {
      const taken = takenAt.get(uuid)
      return taken?.life.reports
        .filter(({ status }) => status !== 'approved')
        .filter(({ afterSeconds }) => taken.at + afterSeconds * 1000 <= clock.now())
        .toSorted((one, other) => one.afterSeconds - other.afterSeconds)[0]
    },
    /** A bank took the debit: from now on it reports. */
    taken: (life: Life, uuid: string): void => {
      takenAt.set(uuid, { life, at: clock.now() })
      for (const n of life.reports.keys()) void report(life, uuid, n)
    },
  }
}
