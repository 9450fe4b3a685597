import type { Crash } from '../engine/effects.ts'
import { drawFaults, type FaultName, type Losses } from '../engine/faults.ts'
import { type Random, randomOf, seedOf } from '../engine/random.ts'

/**
 * What is to happen in a world, before anything goes wrong: who there is, which debits are asked
 * for, and what their banks make of them. All of it plain values, so that a scenario can be cut down.
 */

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** What a bank says of a debit, and how long after it took it. */
export type Report = {
  afterSeconds: number
  by: 'update' | 'callback'
  status: 'completed' | 'failed' | 'approved'
  /** With two decimals; absent: the provider's schedule decides. */
  fee?: string
  /** The bank sends a body that the service rejects, or never sends it. */
  flaw?: 'rejected' | 'lost'
}

export type DebitScript = {
  /** Names it, also in what its bank is told. */
  n: number
  /** When the charge is asked for. */
  at: number
  provider: number
  bank: BankName
  /** With two decimals. */
  amount: string
  phone: string
  /** What the bank makes of the submission. */
  verdict: 'accepted' | 'rejected'
  reports: readonly Report[]
  /** `again`: once more after its answer. `otherwise`: the same reference for something else. */
  asks: 'once' | 'again' | 'otherwise' | 'wrongly'
  /** Seconds after the charge. */
  polls: readonly number[]
  redelivered: number | undefined
  reversed: number | undefined
}

export type Payment = 'paid' | 'underway' | 'rejected'

export type Scenario = {
  seed: number
  startAt: number
  scripts: readonly DebitScript[]
  faults: ReadonlySet<FaultName>
  /** How many times as often as usual each of them strikes. */
  intensity: number
  healAt: number
  endAt: number
  losses?: Losses
  /** Workers that are to be lost, beside those that random takes. */
  crashes: readonly Crash[]
  /** What the bank makes of the payments of batches, in turn. */
  payments: readonly Payment[]
  /** What receivers answer first, before random decides; 0: nothing. */
  answers: readonly number[]
  /** Who there is; fewer make shorter nights. */
  providers: readonly number[]
}

/** `HBA` and `HBB` have endpoints of their own, `SBX` is the sandbox's. */
export const bankNames = ['HBA', 'HBB', 'SBX'] as const
export type BankName = (typeof bankNames)[number]

export const PROVIDERS = 5

/** Whom the sandbox's bank treats how. */
const PHONES = [
  '+233241234567',
  '+233241234567',
  '+233241111111',
  '+233242222222',
  '+233243333333',
  '+233244444444',
  '+233245555555',
]

const drawAmount = (random: Random): string => {
  // Odd whole cedis are ties of half-even rounding at 1.5 %.
  if (random.happens(0.4)) return `${2 * random.below(300) + 1}.00`
  const pesewas = 100 + random.below(random.happens(0.1) ? 999_901 : 60_000)
  return `${Math.floor(pesewas / 100)}.${String(pesewas % 100).padStart(2, '0')}`
}

const drawFee = (random: Random): Pick<Report, 'fee'> =>
  random.happens(0.25)
    ? { fee: `${random.below(2)}.${String(random.below(100)).padStart(2, '0')}` }
    : {}

/** Most banks say one thing, once and soon; these are all the others too. */
const drawReports = (random: Random): Report[] => {
  const by = () => random.pick(['update', 'callback'] as const)
  const end = (afterSeconds: number, status: Report['status']): Report => ({
    afterSeconds,
    by: by(),
    status,
    ...(status === 'completed' ? drawFee(random) : {}),
  })
  const soon = random.between(1, 90)
  const outcome = random.happens(0.8) ? 'completed' : 'failed'
  switch (random.below(14)) {
    case 0:
      return []
    case 1:
      return [{ afterSeconds: soon, by: 'callback', status: 'approved' }]
    case 2:
      return [
        { afterSeconds: soon, by: 'callback', status: 'approved' },
        end(random.between(soon + 1, 650), outcome),
      ]
    case 3:
      return [end(soon, 'completed'), end(soon + random.between(0, 2), 'failed')]
    case 4:
      return [end(soon, outcome), end(soon + random.between(0, 200), outcome)]
    // As the five-minute clock runs out, and as the ten-minute clock does.
    case 5:
      return [end(random.between(290, 310), outcome)]
    case 6:
      return [end(random.between(590, 610), outcome)]
    case 7:
      return [end(random.between(700, 1_500), 'completed')]
    case 8:
      return [end(0, outcome)]
    case 9:
      return [{ ...end(soon, outcome), flaw: 'lost' }]
    case 10:
      return [{ ...end(soon, outcome), flaw: 'rejected' }, end(soon + 5, outcome)]
    default:
      return [end(soon, outcome)]
  }
}

const drawReversal = (random: Random, at: number): number | undefined => {
  if (!random.happens(0.2)) return undefined
  const midnight = DAY_MS - (at % DAY_MS)
  return random.pick([
    random.between(60, 900),
    // As the index may yet show it completed when the night's first run reads it.
    (midnight - random.between(0, 45 * SECOND_MS)) / SECOND_MS,
    // While the night's runs are at work.
    (midnight + random.between(0, 90 * SECOND_MS)) / SECOND_MS,
    (midnight + random.between(2 * HOUR_MS, 20 * HOUR_MS)) / SECOND_MS,
    (midnight + DAY_MS + random.between(0, 90 * SECOND_MS)) / SECOND_MS,
  ])
}

const drawScript = (n: number, at: number, random: Random): DebitScript => ({
  n,
  at,
  provider: n % PROVIDERS,
  bank: random.pick(bankNames),
  amount: drawAmount(random),
  phone: random.pick(PHONES),
  verdict: random.happens(0.9) ? 'accepted' : 'rejected',
  reports: drawReports(random),
  asks: random.happens(0.85) ? 'once' : random.pick(['again', 'otherwise', 'wrongly'] as const),
  polls: random.happens(0.15) ? [random.between(0, 5), random.between(10, 700)] : [],
  redelivered: random.happens(0.05) ? random.between(60, 2_000) : undefined,
  reversed: drawReversal(random, at),
})

/** Most worlds are bad enough; a few are worse. */
const INTENSITIES = [1, 1, 1, 1, 1, 1, 1, 1, 2, 3] as const

/** Of all worlds, those in which nothing goes wrong. */
const HEALTHY_SHARE = 0.1

const midnightAfter = (at: number): number => (Math.floor(at / DAY_MS) + 1) * DAY_MS

/** When debits are asked for: in bursts, some of them as a day ends. */
const drawBursts = (random: Random, startAt: number): number[] =>
  Array.from({ length: 2 + random.below(2) }, () =>
    random.happens(0.3)
      ? midnightAfter(startAt) - random.between(0, 40 * SECOND_MS)
      : startAt + random.between(0, 30 * HOUR_MS),
  )

/** The world of a seed, with so many debits. */
export const drawScenario = (seed: number, lifecycles: number): Scenario => {
  const random = randomOf(seedOf(seed, 1))
  const startAt = Date.UTC(2026, random.below(12), 1 + random.below(28), random.below(24))
  const bursts = drawBursts(random, startAt)
  const scripts = Array.from({ length: lifecycles }, (_, n) => {
    const own = randomOf(seedOf(seed, 2, n))
    return drawScript(n, own.pick(bursts) + own.between(0, 6 * SECOND_MS), own)
  })
  const last = Math.max(...bursts)
  const healAt = random.happens(0.5)
    ? last + random.between(5 * MINUTE_MS, 60 * MINUTE_MS)
    : midnightAfter(last) + DAY_MS + random.between(0, 2 * HOUR_MS)
  return {
    seed,
    startAt,
    scripts,
    faults: random.happens(HEALTHY_SHARE) ? new Set() : drawFaults(random),
    intensity: random.pick(INTENSITIES),
    healAt,
    endAt: midnightAfter(healAt) + DAY_MS + 3 * HOUR_MS,
    crashes: [],
    answers: [],
    providers: Array.from({ length: PROVIDERS }, (_, n) => n),
    payments: Array.from({ length: 8 }, () =>
      random.happens(0.75) ? 'paid' : random.pick(['underway', 'rejected'] as const),
    ),
  }
}
