import type { Crash } from '../engine/effects.ts'
import { drawFaults, type FaultName, type Losses } from '../engine/faults.ts'
import { type Random, randomOf, seedOf } from '../engine/random.ts'

/**
 * A scenario: its debits, what their banks report, and its faults. Plain values, so that it can be
 * reduced.
 */

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** A bank's report, and the time after the submission. */
export type ScriptedReport = {
  afterSeconds: number
  by: 'update' | 'callback'
  status: 'completed' | 'failed' | 'approved'
  /** With two decimals; by default the provider's schedule applies. */
  fee?: string
  /** A report that the service rejects, or that never arrives. */
  flaw?: 'rejected' | 'lost'
}

export type DebitScript = {
  /** Identifies the script; part of the narration. */
  number: number
  /** The time of the charge. */
  at: number
  provider: number
  bank: BankName
  /** With two decimals. */
  amount: string
  phone: string
  /** The bank's response to the submission. */
  verdict: 'accepted' | 'rejected'
  reports: readonly ScriptedReport[]
  /** `twice`: an identical repeat. `reused`: the reference with another amount. */
  charge: 'once' | 'twice' | 'reused' | 'invalid'
  /** In seconds after the charge. */
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
  /** Multiplies the probability of each fault. */
  intensity: number
  healAt: number
  endAt: number
  losses?: Losses
  /** Crashes in addition to random ones. */
  crashes: readonly Crash[]
  /** The results of payouts, in turn. */
  payments: readonly Payment[]
  /** The statuses of the first webhook responses; 0 for none. */
  answers: readonly number[]
  /** Indexes of the providers; fewer shorten the nights. */
  providers: readonly number[]
}

/** `HBA` and `HBB` have HTTP endpoints, `SBX` is the sandbox bank. */
export const bankNames = ['HBA', 'HBB', 'SBX'] as const
export type BankName = (typeof bankNames)[number]

export const PROVIDERS = 5

/** The phone numbers that the sandbox bank distinguishes. */
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
  // At 1.5 %, odd whole cedis are ties of half-even rounding.
  if (random.happens(0.4)) return `${2 * random.below(300) + 1}.00`
  const pesewas = 100 + random.below(random.happens(0.1) ? 999_901 : 60_000)
  return `${Math.floor(pesewas / 100)}.${String(pesewas % 100).padStart(2, '0')}`
}

const drawFee = (random: Random): Pick<ScriptedReport, 'fee'> =>
  random.happens(0.25)
    ? { fee: `${random.below(2)}.${String(random.below(100)).padStart(2, '0')}` }
    : {}

/** Most banks report once; the other cases cover repeats, races and silence. */
const drawReports = (random: Random): ScriptedReport[] => {
  const by = () => random.pick(['update', 'callback'] as const)
  const end = (afterSeconds: number, status: ScriptedReport['status']): ScriptedReport => ({
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
    // Around the approval timeout and the processing timeout.
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
    // Reversed while the index still shows it as completed.
    (midnight - random.between(0, 45 * SECOND_MS)) / SECOND_MS,
    // During the night's runs.
    (midnight + random.between(0, 90 * SECOND_MS)) / SECOND_MS,
    (midnight + random.between(2 * HOUR_MS, 20 * HOUR_MS)) / SECOND_MS,
    (midnight + DAY_MS + random.between(0, 90 * SECOND_MS)) / SECOND_MS,
  ])
}

const drawScript = (number: number, at: number, random: Random): DebitScript => ({
  number,
  at,
  provider: number % PROVIDERS,
  bank: random.pick(bankNames),
  amount: drawAmount(random),
  phone: random.pick(PHONES),
  verdict: random.happens(0.9) ? 'accepted' : 'rejected',
  reports: drawReports(random),
  charge: random.happens(0.85) ? 'once' : random.pick(['twice', 'reused', 'invalid'] as const),
  polls: random.happens(0.15) ? [random.between(0, 5), random.between(10, 700)] : [],
  redelivered: random.happens(0.05) ? random.between(60, 2_000) : undefined,
  reversed: drawReversal(random, at),
})

const INTENSITIES = [1, 1, 1, 1, 1, 1, 1, 1, 2, 3] as const

/** The share of scenarios without faults. */
const HEALTHY_SHARE = 0.1

const midnightAfter = (at: number): number => (Math.floor(at / DAY_MS) + 1) * DAY_MS

/** Bursts of charges, some just before midnight. */
const drawBursts = (random: Random, startAt: number): number[] =>
  Array.from({ length: 2 + random.below(2) }, () =>
    random.happens(0.3)
      ? midnightAfter(startAt) - random.between(0, 40 * SECOND_MS)
      : startAt + random.between(0, 30 * HOUR_MS),
  )

/** Returns the scenario of a seed. */
export const drawScenario = (seed: number, lifecycles: number): Scenario => {
  const random = randomOf(seedOf(seed, 1))
  const startAt = Date.UTC(2026, random.below(12), 1 + random.below(28), random.below(24))
  const bursts = drawBursts(random, startAt)
  const scripts = Array.from({ length: lifecycles }, (_, index) => {
    const own = randomOf(seedOf(seed, 2, index))
    return drawScript(index, own.pick(bursts) + own.between(0, 6 * SECOND_MS), own)
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
    providers: Array.from({ length: PROVIDERS }, (_, index) => index),
    payments: Array.from({ length: 8 }, () =>
      random.happens(0.75) ? 'paid' : random.pick(['underway', 'rejected'] as const),
    ),
  }
}
