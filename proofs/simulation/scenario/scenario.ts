import type { PayoutResult } from '../../../shared/domain/settlement/payout.ts'
import type { Crash } from '../engine/effects.ts'
import { drawFaults, type FaultName, type Losses } from '../engine/faults.ts'
import type { Release, StageSettings } from '../engine/observations.ts'
import { type Random, randomOf, seedOf } from '../engine/random.ts'
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  midnightAfter,
  SECOND_MS,
} from '../invariants/time-and-money.ts'
import { drawScript } from './draw-script.ts'
import { type KindName, type KindSettings, kindOf, settingsOf } from './kinds.ts'
import { type DebitScript, HTTP_BANKS, PROVIDERS } from './script.ts'
import * as settingChanges from './setting-changes.ts'

/**
 * A scenario: its debits, what their banks report, and its faults. Plain values, so that it can be
 * reduced.
 */

export type PaymentResult = PayoutResult['kind']

export type Scenario = StageSettings & {
  seed: number
  kind: KindName
  startAt: number
  scripts: readonly DebitScript[]
  faults: ReadonlySet<FaultName>
  intensity: number
  healAt: number
  endAt: number
  losses?: Losses
  crashes: readonly Crash[]
  /** The results of payouts, in turn. */
  payments: readonly PaymentResult[]
  /** The results of queries about payments under way, in turn. */
  endings: readonly PaymentResult[]
  /** The statuses of the first webhook responses; 0 for none. */
  answers: readonly number[]
  /** Indexes of the providers; fewer shorten the nights. */
  providers: readonly number[]
  /** The providers and banks that operators create after the start. */
  absent: readonly string[]
  changes: readonly settingChanges.SettingChange[]
  /** When operators retry failed payouts and refunds and resolve exceptions. */
  rounds: readonly number[]
  /** Whether operators erase all customers after the end. */
  erases: boolean
  reportsOnce: boolean
  restore?: Restore
  /** How long functions cache settings: not at all, or as in production. */
  cacheSeconds: number
}

/** A restore that begins at an instant and returns the table to an earlier one. */
export type Restore = { at: number; to: number }

const INTENSITIES = [1, 1, 1, 1, 1, 1, 1, 1, 2, 3] as const

const ENDINGS = ['paid', 'paid', 'rejected', 'underway'] as const

export const HEALTHY_SHARE = 0.1

const drawBursts = (random: Random, startAt: number, { midnightShare }: KindSettings): number[] =>
  Array.from({ length: 2 + random.below(2) }, () =>
    random.happens(midnightShare)
      ? midnightAfter(startAt) - random.between(0, 40 * SECOND_MS)
      : startAt + random.between(0, 30 * HOUR_MS),
  )

/** Of eight debits, how many are charged each day: batches below zero follow, then one that offsets them. */
const DAILY = [4, 1, 0, 3]

const drawUnevenBursts = (random: Random, startAt: number): number[] =>
  DAILY.flatMap((debits, day) => {
    const at = startAt + day * DAY_MS + random.between(0, day === 0 ? HOUR_MS : 20 * HOUR_MS)
    return Array.from({ length: debits }, () => at)
  })

const drawMorningBursts = (random: Random, startAt: number): number[] =>
  [1, 1, 2].map(
    (day) =>
      midnightAfter(startAt) + (day - 1) * DAY_MS + random.between(6 * HOUR_MS, 16 * HOUR_MS),
  )

/** Below zero by more than clocks differ. */
const UNCACHED = -60
const CACHED = 30
const CACHED_SHARE = 0.3

const ROUNDS_MS = [9 * HOUR_MS, 16 * HOUR_MS]

const roundsOf = (startAt: number, endAt: number): number[] => {
  const days = Math.ceil((endAt - startAt) / DAY_MS) + 1
  const first = midnightAfter(startAt) - DAY_MS
  return Array.from({ length: days }, (_, day) => first + day * DAY_MS)
    .flatMap((day) => ROUNDS_MS.map((time) => day + time))
    .filter((at) => at > startAt && at < endAt)
}

/** The settings of a plain scenario, and of the shapes of crash points. */
export const plain = {
  kind: 'usual',
  approvals: false,
  otherRelease: undefined,
  waitsForFunding: false,
  openPromptsMax: undefined,
  lookups: [],
  workingBanks: [],
  absent: [],
  changes: [],
  rounds: [],
  erases: false,
  reportsOnce: false,
  isIdempotent: true,
  crashes: [],
  answers: [],
  endings: ['paid'],
  cacheSeconds: UNCACHED,
} as const satisfies Partial<Scenario>

/** Soon after a burst or after the payouts of a night; most undo a part of their work. */
const drawRestore = (random: Random, bursts: readonly number[]): Restore => {
  const night = midnightAfter(Math.min(...bursts)) + DAY_MS
  const to = random.pick([
    random.pick(bursts) + random.between(0, random.pick([8 * SECOND_MS, 15 * MINUTE_MS])),
    night + random.between(-SECOND_MS, 2 * SECOND_MS),
  ])
  return { at: to + random.between(10 * SECOND_MS, 15 * MINUTE_MS), to }
}

const drawPayment = (
  random: Random,
  { rejectedShare, underwayShare }: KindSettings,
): PaymentResult => {
  if (random.happens(rejectedShare)) return 'rejected'
  return random.happens(underwayShare) ? 'underway' : 'paid'
}

const CAPPED_SHARE = 0.25

const drawPromptsMax = (random: Random): number | undefined =>
  random.happens(CAPPED_SHARE) ? random.pick([1, 2, 3, 5]) : undefined

const ROLLOUT_SHARE = 0.2

const drawRelease = (random: Random): Release | undefined =>
  random.happens(ROLLOUT_SHARE) ? random.pick(['earlier', 'later']) : undefined

const ERASED_SHARE = 0.25

/** Of the banks that differ in one setting. */
const BANK_SHARE = 0.2

const drawBanks = (random: Random) => HTTP_BANKS.filter(() => random.happens(BANK_SHARE))

export const drawScenario = (seed: number, lifecycles: number, forced?: KindName): Scenario => {
  const kind = forced ?? kindOf(seed)
  const settings = settingsOf(kind)
  const random = randomOf(seedOf(seed, 1))
  const bankRandom = randomOf(seedOf(seed, 10))
  const startAt = Date.UTC(2026, random.below(12), 1 + random.below(28), random.below(24))
  const bursts = settings.isRestored
    ? drawMorningBursts(random, startAt)
    : (settings.isReversedLate ? drawUnevenBursts : drawBursts)(random, startAt, settings)
  const scripts = Array.from({ length: lifecycles }, (_, index) => {
    const own = randomOf(seedOf(seed, 2, index))
    const at = own.pick(bursts) + own.between(0, 6 * SECOND_MS)
    return drawScript(index, at, settings, own)
  })
  const last = Math.max(...bursts)
  const healAt = random.happens(settings.hasSmallSizes ? 0 : 0.5)
    ? last + random.between(5 * MINUTE_MS, 60 * MINUTE_MS)
    : midnightAfter(last) + DAY_MS + random.between(0, 2 * HOUR_MS)
  const nights = settings.isRestored ? 2 : 1
  const endAt = midnightAfter(healAt) + nights * DAY_MS + 3 * HOUR_MS
  const faults = random.happens(HEALTHY_SHARE) ? [] : [...drawFaults(seed), ...settings.faults]
  const period = { from: startAt, until: Math.min(healAt, last + 2 * DAY_MS) }
  const absent = settingChanges.drawAbsent(seed, settings.absentShare)
  return {
    ...plain,
    seed,
    kind,
    startAt,
    scripts,
    faults: new Set(faults),
    intensity: random.pick(INTENSITIES),
    healAt,
    endAt,
    providers: Array.from({ length: PROVIDERS }, (_, index) => index),
    payments: Array.from({ length: 8 }, () => drawPayment(random, settings)),
    endings: Array.from({ length: 8 }, () => bankRandom.pick(ENDINGS)),
    approvals: random.happens(settings.approvalShare),
    otherRelease: drawRelease(randomOf(seedOf(seed, 16))),
    waitsForFunding: settings.hasRounds && bankRandom.happens(0.4),
    // A run with small sizes needs many completed debits.
    openPromptsMax: settings.hasSmallSizes ? undefined : drawPromptsMax(randomOf(seedOf(seed, 15))),
    lookups: drawBanks(randomOf(seedOf(seed, 15, 1))),
    workingBanks: drawBanks(randomOf(seedOf(seed, 16))),
    absent,
    changes: [
      ...settingChanges.drawCreations(seed, absent, startAt),
      ...settingChanges.drawSettingChanges(seed, settings.settingChanges, { bursts, ...period }),
    ],
    rounds: settings.hasRounds ? roundsOf(startAt, endAt) : [],
    erases: randomOf(seedOf(seed, 17)).happens(ERASED_SHARE),
    reportsOnce: settings.reportsOnce,
    isIdempotent: settings.isIdempotent,
    cacheSeconds: randomOf(seedOf(seed, 12, 0)).happens(CACHED_SHARE) ? CACHED : UNCACHED,
    ...(settings.isRestored ? { restore: drawRestore(random, bursts) } : {}),
  }
}
