import type { Options, SettingVerb } from '../engine/observations.ts'
import { type Random, randomOf, seedOf } from '../engine/random.ts'
import { DAY_MS, HOUR_MS, inGhs, MINUTE_MS } from '../invariants/time-and-money.ts'
import type { Api, Caller } from '../peers/api.ts'
import { type Operators, resultOf } from '../peers/operators.ts'
import { customerAccounts, hostOf, secretsOf, simulatedProviders } from './fixtures.ts'
import { type BankName, bankNames, HTTP_BANKS } from './script.ts'

export type SettingChange = { at: number; verb: SettingVerb; options: Options }

type Change = readonly [verb: SettingVerb, options: Options]
type Drawn = { random: Random; provider: string; bank: BankName; httpBank: BankName; phone: string }

const accountOf = ({ provider, random }: Drawn) => ({
  provider,
  'settlement-bank': random.pick(HTTP_BANKS),
  'settlement-account': String(2_000_000_000 + random.below(900_000_000)),
  'settlement-name': `${provider} ${random.below(100)}`,
})

/** Names every part, so that the value follows from one call. */
const feesOf = ({ provider, random }: Drawn) => {
  const minimum = random.below(200)
  return {
    provider,
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
  'account-number': String(3_000_000_000 + random.below(900_000_000)),
})

const connectorOf = ({ httpBank: bank, random }: Drawn) => ({
  bank,
  'connector-url': `https://${hostOf(random.pick([bank, `${bank}2`]))}`,
  'connector-secret': random.pick(secretsOf(bank)),
})

const GRACE = ['0', '1800', '86400']
const graceOf = ({ random }: Drawn) => ({ 'grace-seconds': random.pick(GRACE) })

/** Each row draws a change and the one that ends it. */
const rows: readonly ((drawn: Drawn) => readonly [Change, Change?])[] = [
  (drawn) => [['provider update', accountOf(drawn)]],
  (drawn) => [['provider update', feesOf(drawn)]],
  (drawn) => [['limit set', dailyLimitOf(drawn)]],
  (drawn) => [
    ['limit remove', { provider: drawn.provider }],
    ['limit set', dailyLimitOf(drawn)],
  ],
  ({ provider, random }) => {
    const perMinute = String(5 + random.below(40))
    return [['limit set', { provider, operation: 'charge', 'per-minute': perMinute }]]
  },
  ({ provider }) => [
    ['provider disable', { provider }],
    ['provider enable', { provider }],
  ],
  (drawn) => [['webhook set', webhookOf(drawn)]],
  (drawn) => [
    ['webhook remove', { provider: drawn.provider }],
    ['webhook set', webhookOf(drawn)],
  ],
  (drawn) => [['webhook rotate-secret', { provider: drawn.provider, ...graceOf(drawn) }]],
  (drawn) => [
    ['provider rotate-request-secret', { provider: drawn.provider, ...graceOf(drawn) }],
    ['provider update', { provider: drawn.provider, 'request-secret': 'none' }],
  ],
  ({ provider }) => [
    ['credential issue', { provider }],
    ['credential revoke', { provider }],
  ],
  ({ bank }) => [
    ['credential issue', { bank }],
    ['credential revoke', { bank }],
  ],
  ({ bank }) => [
    ['bank disable', { bank }],
    ['bank enable', { bank }],
  ],
  (drawn) => [['bank update', connectorOf(drawn)]],
  (drawn) => [['connector set', connectorOf(drawn)]],
  ({ provider }) => [['webhook enable', { provider }]],
  (drawn) => [
    ['customer unlink', { phone: drawn.phone, bank: drawn.bank }],
    ['customer link', customerOf(drawn)],
  ],
]

const drawnBy = (random: Random): Drawn => ({
  random,
  provider: random.pick(simulatedProviders).id,
  bank: random.pick(bankNames),
  httpBank: random.pick(HTTP_BANKS),
  phone: random.pick(Object.keys(customerAccounts)),
})

/** Some changes meet the debits of a burst, some the payouts at midnight. */
const drawTime = (random: Random, bursts: readonly number[]): number => {
  const burst = random.pick(bursts)
  const midnight = burst - (burst % DAY_MS) + DAY_MS
  return random.pick([
    burst + random.between(-MINUTE_MS, 10 * MINUTE_MS),
    burst + random.between(-HOUR_MS, 12 * HOUR_MS),
    midnight + random.between(0, 15 * MINUTE_MS),
  ])
}

type Times = { bursts: readonly number[]; from: number; until: number }

export const drawSettingChanges = (
  seed: number,
  count: number,
  { bursts, from, until }: Times,
): SettingChange[] => {
  const random = randomOf(seedOf(seed, 12, 1))
  return Array.from({ length: count }).flatMap(() => {
    const [[verb, options], end] = random.pick(rows)(drawnBy(random))
    const at = Math.max(from, Math.min(until, drawTime(random, bursts)))
    const endAt = Math.min(until, at + random.between(MINUTE_MS, 90 * MINUTE_MS))
    const ends = end ? [{ at: endAt, verb: end[0], options: end[1] }] : []
    return [{ at, verb, options }, ...ends]
  })
}

const creationOf = (id: string, random: Random): Change[] => {
  const bank = HTTP_BANKS.find((name) => name === id)
  if (!bank) {
    const drawn = { ...drawnBy(random), provider: id }
    const settings = { ...accountOf(drawn), ...feesOf(drawn), ...dailyLimitOf(drawn) }
    return [
      ['provider create', { ...settings, name: id }],
      ['credential issue', { provider: id }],
      ['webhook set', webhookOf(drawn)],
    ]
  }
  const drawn = { ...drawnBy(random), bank, httpBank: bank }
  const settings = { connector: 'http', 'connector-type': 'both', name: `Bank ${id}` }
  return [
    ['bank create', { ...connectorOf(drawn), ...settings }],
    ['credential issue', { bank }],
    ...Object.keys(customerAccounts).map(
      (phone): Change => ['customer link', customerOf({ ...drawn, phone })],
    ),
  ]
}

export const drawAbsent = (seed: number, share: number): string[] => {
  const random = randomOf(seedOf(seed, 12, 2))
  if (!random.happens(share)) return []
  return [random.pick([...simulatedProviders.map(({ id }) => id), ...HTTP_BANKS])]
}

export const drawCreations = (seed: number, absent: readonly string[], at: number) => {
  const random = randomOf(seedOf(seed, 12, 3))
  return absent
    .flatMap((id) => creationOf(id, random))
    .map(([verb, options], n) => ({ at: at + n, verb, options }))
}

/** How long callers try a revoked token. */
const PROBES_MS = [0, 15_000, 45_000, 10 * MINUTE_MS]

export const newSettings = ({ api, operators }: { api: Api; operators: Operators }) => {
  const probe = async (owner: Caller, token: string): Promise<void> => {
    const name = owner.kind === 'bank' ? 'list-debit-transactions' : 'list-debit-requests'
    for (const after of PROBES_MS) {
      await api.sleep(after)
      await api.ask({ name, caller: owner, query: { per_page: '1' }, token, triesMax: 1 })
    }
  }

  const change = async ({ verb, options }: SettingChange): Promise<void> => {
    const [noun = '', action = ''] = verb.split(' ')
    const { provider, bank = '' } = options
    const owner: Caller =
      provider === undefined ? { kind: 'bank', id: bank } : { kind: 'provider', id: provider }
    if (verb === 'credential revoke') {
      const { previous: token } = api.credentials.of(owner)
      if (token === undefined) return
      await operators.operate(noun, action, { token })
      return void probe(owner, token)
    }
    const done = await operators.operate(noun, action, options)
    api.credentials.learn(owner, { ...options, ...resultOf(done) })
  }

  return {
    /** Changes follow one another, so that each setting is known between two changes. */
    start: async (changes: readonly SettingChange[]): Promise<void> => {
      for (const one of changes.toSorted((a, b) => a.at - b.at)) {
        await api.until(one.at)
        await change(one)
      }
    },
  }
}
