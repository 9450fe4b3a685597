import type { Options, SettingVerb } from '../engine/observations.ts'
import { type Random, randomOf, seedOf } from '../engine/random.ts'
import { DAY_MS, dayOf, HOUR_MS, inGhs, MINUTE_MS } from '../invariants/time-and-money.ts'
import {
  ACCOUNT_NUMBER,
  customerAccounts,
  hostOf,
  secretsOf,
  simulatedProviders,
} from './fixtures.ts'
import { type BankName, bankNames, HTTP_BANKS, USUAL_AMOUNT } from './script.ts'

export type SettingChange = { at: number; verb: SettingVerb; options: Options }

type Change = readonly [verb: SettingVerb, options: Options]
type Drawn = {
  random: Random
  provider: string
  bank: BankName
  httpBank: BankName
  phone: string
  /** One of the next days. */
  date: string
}

/** Often only one part is another one. */
const accountOf = ({ provider, random }: Drawn) => ({
  provider,
  'settlement-bank': random.pick(HTTP_BANKS),
  'settlement-account': random.pick([
    ACCOUNT_NUMBER,
    String(2_000_000_000 + random.below(900_000_000)),
  ]),
  'settlement-name': `${provider} ${random.pick(['Ltd', 'Ltd', 'Plc'])}`,
})

/** Names every part, so that the value follows from one call. */
const nameAndFeesOf = ({ provider, random }: Drawn) => {
  const minimum = random.below(200)
  return {
    provider,
    name: `${provider} ${minimum}`,
    'fee-basis-points': String(random.pick([0, 50, 125, 150, 333])),
    'fee-fixed': inGhs(random.below(60)),
    'fee-minimum': random.happens(0.5) ? inGhs(minimum) : 'none',
    'fee-maximum': random.happens(0.5) ? inGhs(minimum + random.below(900)) : 'none',
  }
}

/** Some are below the total of the day. */
const dailyLimitOf = ({ provider, random }: Drawn) => ({
  provider,
  'daily-limit': inGhs(random.pick([1_000, 50_000, 500_000]) * (1 + random.below(10))),
})

const EVENTS = [
  'none',
  'none',
  'transaction.completed,transaction.failed,transaction.reversed,settlement.completed',
  'transaction.created,transaction.pending,transaction.processing,transaction.completed',
]

const webhookOf = ({ provider, random }: Drawn) => ({
  provider,
  url: `https://${hostOf(provider)}/hooks${random.pick(['', '/new', '/other'])}`,
  events: random.pick(EVENTS),
  'max-attempts': random.pick(['none', '2', '5']),
  timeout: '10',
  'connection-timeout': '5',
})

const customerOf = ({ phone, bank, random }: Drawn) => ({
  phone,
  bank,
  name: 'Ama Mensah',
  // The sandbox bank rejects payments to 0000 and delays those to 9999.
  'account-number': `${300_000_000 + random.below(90_000_000)}1`,
})

/** Some rows remove an account. */
const importOf = (drawn: Drawn) => ({
  bank: drawn.bank,
  rows: JSON.stringify(
    Object.keys(customerAccounts).map((phone) => {
      const { name, 'account-number': number } = customerOf({ ...drawn, phone })
      return drawn.random.happens(0.2) ? [phone] : [phone, name, number]
    }),
  ),
})

const connectorOf = ({ httpBank: bank, random }: Drawn) => ({
  bank,
  'connector-url': `https://${hostOf(random.pick([bank, `${bank}2`]))}`,
  'connector-secret': random.pick(secretsOf(bank)),
  // Both hosts are those of one bank.
  'knows-uuids': 'true',
})

const bankOf = (drawn: Drawn) => ({
  ...connectorOf(drawn),
  'when-down': drawn.random.pick(['refuse', 'refuse', 'default']),
  'account-lookup': drawn.random.pick(['on', 'off']),
  'payout-days': drawn.random.pick(['working', 'working', 'default']),
  maximum: drawn.random.pick([USUAL_AMOUNT, 'none']),
})

const chargesOf = ({ provider, random }: Drawn) => {
  return { provider, operation: 'charge', 'per-minute': String(1 + random.below(30)) }
}

const fencedOf = ({ provider, random }: Drawn) => {
  return { provider, 'allow-list': `203.0.113.0/24,198.51.100.${random.below(250)}` }
}

const ofProvider = ({ provider }: Drawn) => ({ provider })
const ofDate = ({ date }: Drawn) => ({ date })
const holidayOf = ({ date }: Drawn) => ({ date, name: 'Declared' })
const ofBank = ({ bank }: Drawn) => ({ bank })
const ofHttpBank = ({ httpBank: bank }: Drawn) => ({ bank })
const connectedOf = (drawn: Drawn) => ({ ...connectorOf(drawn), connector: 'http' })
const behaviourOf = ({ random }: Drawn) => {
  return { bank: 'SBX', as: random.pick(['rejecting', 'silent', 'slow', 'down']) }
}
const ofCustomer = ({ phone, bank }: Drawn) => ({ phone, bank })
const withGrace = ({ provider, random }: Drawn) => {
  return { provider, 'grace-seconds': random.pick(['0', '1800', '86400']) }
}
const unsigned = ({ provider }: Drawn) => ({ provider, 'request-secret': 'none' })

type Draw = (drawn: Drawn) => Options
type Row = readonly [verb: SettingVerb, options: Draw, ending?: SettingVerb, endingOptions?: Draw]

/** The changes, some with the one that ends them. */
const rows: readonly Row[] = [
  ['provider update', accountOf],
  ['provider update', nameAndFeesOf],
  ['provider update', fencedOf],
  ['provider disable', ofProvider, 'provider enable'],
  ['provider rotate-request-secret', withGrace, 'provider update', unsigned],
  ['credential issue', ofProvider, 'credential revoke'],
  ['credential issue', ofBank, 'credential revoke'],
  ['limit set', dailyLimitOf],
  ['limit set', chargesOf],
  ['limit remove', ofProvider, 'limit set', dailyLimitOf],
  ['bank update', bankOf],
  ['connector set', connectorOf],
  ['connector remove', ofHttpBank, 'connector set', connectedOf],
  ['bank behave', behaviourOf, 'bank behave', () => ({ bank: 'SBX', as: 'normal' })],
  ['bank disable', ofBank, 'bank enable'],
  ['calendar add', holidayOf, 'calendar remove', ofDate],
  ['calendar add', holidayOf],
  ['customer unlink', ofCustomer, 'customer link', customerOf],
  ['customer import', importOf],
  ['webhook set', webhookOf],
  ['webhook remove', ofProvider, 'webhook set', webhookOf],
  ['webhook rotate-secret', withGrace],
  ['webhook enable', ofProvider],
]

const drawnBy = (random: Random, at: number): Drawn => ({
  random,
  provider: random.pick(simulatedProviders).id,
  bank: random.pick(bankNames),
  httpBank: random.pick(HTTP_BANKS),
  phone: random.pick(Object.keys(customerAccounts)),
  date: dayOf(at + random.between(0, 3 * DAY_MS)),
})

/** Some changes meet the debits of a burst, some its settlement at midnight, some its payouts a day later. */
const drawTime = (random: Random, bursts: readonly number[]): number => {
  const burst = random.pick(bursts)
  const midnight = burst - (burst % DAY_MS) + DAY_MS
  return random.pick([
    burst - random.between(0, 5 * MINUTE_MS),
    // Before the sweep repairs what was lost.
    burst + random.between(0, 2 * MINUTE_MS),
    burst + random.between(0, 10 * MINUTE_MS),
    burst + random.between(-HOUR_MS, 12 * HOUR_MS),
    midnight + random.between(-30 * MINUTE_MS, 15 * MINUTE_MS),
    midnight + DAY_MS + random.between(-30 * MINUTE_MS, 15 * MINUTE_MS),
  ])
}

type Times = { bursts: readonly number[]; from: number; until: number }

export const drawSettingChanges = (seed: number, count: number, { bursts, from, until }: Times) => {
  const random = randomOf(seedOf(seed, 12, 1))
  return Array.from({ length: count }).flatMap(() => {
    const [verb, options, ending, endingOptions = options] = random.pick(rows)
    const at = Math.max(from, Math.min(until, drawTime(random, bursts)))
    const drawn = drawnBy(random, at)
    const endAt = Math.min(until, at + random.between(MINUTE_MS, 90 * MINUTE_MS))
    const ends = ending ? [{ at: endAt, verb: ending, options: endingOptions(drawn) }] : []
    return [{ at, verb, options: options(drawn) }, ...ends]
  })
}

export const drawAbsent = (seed: number, share: number): string[] => {
  const random = randomOf(seedOf(seed, 12, 2))
  if (!random.happens(share)) return []
  return [random.pick([...simulatedProviders.map(({ id }) => id), ...HTTP_BANKS])]
}

/** Draws the calls that create them. */
export const drawCreations = (seed: number, absent: readonly string[], at: number) => {
  const drawn = drawnBy(randomOf(seedOf(seed, 12, 3)), at)
  const isAsked = drawn.random.pick(['on', 'off'])
  const settings = { connector: 'http', 'connector-type': 'both', 'account-lookup': isAsked }
  const changes = absent.flatMap((id): Change[] => {
    const bank = HTTP_BANKS.find((name) => name === id)
    if (!bank) {
      const own = { ...drawn, provider: id }
      const money = { ...accountOf(own), ...nameAndFeesOf(own), ...dailyLimitOf(own) }
      const options = { ...money, reversals: 'request' }
      const issued: Change = ['credential issue', { provider: id }]
      return [['provider create', options], issued, ['webhook set', webhookOf(own)]]
    }
    const own = { ...drawn, bank, httpBank: bank }
    const linked = (phone: string): Change => ['customer link', customerOf({ ...own, phone })]
    return [
      ['bank create', { ...connectorOf(own), ...settings, name: `Bank ${id}` }],
      ['credential issue', { bank }],
      ...Object.keys(customerAccounts).map(linked),
    ]
  })
  return changes.map(([verb, options], n) => ({ at: at + n, verb, options }))
}
