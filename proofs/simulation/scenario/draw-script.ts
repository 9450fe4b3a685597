import type { Random } from '../engine/random.ts'
import { DAY_MS, HOUR_MS, inGhs, SECOND_MS } from '../invariants/time-and-money.ts'
import type { KindSettings } from './kinds.ts'
import { malformationNames } from './malformed-reports.ts'
import * as script from './script.ts'

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
  if (random.happens(0.05)) return script.USUAL_AMOUNT
  // At 1.5 %, odd whole cedis are ties of half-even rounding.
  if (random.happens(0.4)) return `${2 * random.below(300) + 1}.00`
  return inGhs(100 + random.below(random.happens(0.1) ? 999_901 : 60_000))
}

/** Some fees are above the usual ones, some above the amount. */
const drawFee = (random: Random): Pick<script.ScriptedReport, 'fee'> => {
  if (!random.happens(0.25)) return {}
  const text = inGhs(random.below(random.pick([1, 200, 200, 200, 5_000, 200_000])))
  return { fee: random.happens(0.2) ? Number(text) : text }
}

/** Most banks report once; the other cases cover repeats, races and silence. */
const drawReports = (random: Random, malformedShare: number): script.ScriptedReport[] => {
  const by = () => random.pick(['update', 'callback'] as const)
  const end = (afterSeconds: number, status: script.ScriptedReport['status']) => ({
    afterSeconds,
    by: by(),
    status,
    ...(status === 'completed' ? drawFee(random) : {}),
  })
  const soon = random.between(1, 90)
  if (random.happens(malformedShare)) {
    const flawed = { ...end(soon, 'completed'), flaw: random.pick(malformationNames) }
    return random.happens(0.5) ? [flawed] : [flawed, end(soon + 5, 'completed')]
  }
  const outcome = random.happens(0.8) ? 'completed' : 'failed'
  // Some while the submission is recorded, or while the approval timeout queries the bank.
  const approval = (): script.ScriptedReport => {
    const afterSeconds = random.pick([0, soon, soon, random.between(299, 303)])
    return { afterSeconds, by: 'callback', status: 'approved' }
  }
  /** Around a timeout, or while it fires: within the second after it. */
  const about = (seconds: number): number =>
    random.happens(0.5)
      ? random.between(seconds - 10, seconds + 10)
      : seconds + random.between(0, 1_200) / SECOND_MS
  const usual = () => [end(soon, outcome)]
  const cases: readonly (() => script.ScriptedReport[])[] = [
    usual,
    usual,
    () => [],
    () => [approval()],
    () => [approval(), end(random.between(soon + 1, 650), outcome)],
    () => [
      { ...end(soon, 'completed'), ...(random.happens(0.5) ? { flaw: 'lost' } : {}) },
      end(soon + random.between(0, random.pick([0.02, 2, 20])), 'failed'),
    ],
    () => [end(soon, outcome), end(soon + random.between(0, 200), outcome)],
    () => [end(about(300), outcome)],
    () => [end(about(600), outcome)],
    () => [end(random.between(700, 1_500), 'completed')],
    () => [end(0, outcome)],
    () => [{ ...end(soon, outcome), flaw: 'lost' }],
    () => [end(soon, 'completed'), end(random.between(600, 3_000), 'failed')],
  ]
  return random.pick(cases)()
}

/** Returns the seconds from the charge to the reversal. */
const drawReversal = (
  random: Random,
  at: number,
  { reversedShare, isReversedLate, hasSmallSizes }: KindSettings,
): number | undefined => {
  if (!random.happens(reversedShare)) return undefined
  const midnight = DAY_MS - (at % DAY_MS)
  if (isReversedLate && random.happens(0.9)) {
    return (midnight + random.between(2 * HOUR_MS, 60 * HOUR_MS)) / SECOND_MS
  }
  // By a slow clock before midnight, while builders add lines.
  if (hasSmallSizes && random.happens(0.6)) return midnight / SECOND_MS + random.between(0, 6)
  return random.pick([
    random.between(60, 900),
    // Reversed while the index still shows it as completed.
    (midnight - random.between(0, 45 * SECOND_MS)) / SECOND_MS,
    (midnight + random.between(0, 90 * SECOND_MS)) / SECOND_MS,
    (midnight + random.between(2 * HOUR_MS, 20 * HOUR_MS)) / SECOND_MS,
    (midnight + DAY_MS + random.between(0, 90 * SECOND_MS)) / SECOND_MS,
  ])
}

const differences = Object.keys(script.DIFFERENCES) as (keyof typeof script.DIFFERENCES)[]

const drawCharge = (random: Random): script.DebitScript['charge'] =>
  random.happens(0.9) ? 'once' : random.pick(['invalid', random.pick(differences)])

const drawCalls = (random: Random): script.DebitScript['calls'] =>
  [random.between(0, 5), random.between(10, 700)].map((afterSeconds) => ({
    afterSeconds,
    name: random.pick(script.debitOperations),
  }))

export const drawScript = (
  number: number,
  at: number,
  settings: KindSettings,
  random: Random,
): script.DebitScript => ({
  number,
  at,
  provider: number % script.PROVIDERS,
  bank: random.pick(script.bankNames),
  amount: drawAmount(random),
  phone: random.pick(PHONES),
  verdict: random.happens(0.9) ? 'accepted' : 'rejected',
  reports: drawReports(random, settings.malformedShare),
  charge: drawCharge(random),
  repeated: random.happens(0.1) ? random.pick([0, random.between(0, 100_000)]) : undefined,
  calls: random.happens(0.2) ? drawCalls(random) : [],
  redelivered: random.happens(0.05) ? random.between(60, 2_000) : undefined,
  reversed: drawReversal(random, at, settings),
  requested: random.happens(0.1) ? random.between(10, 100_000) : undefined,
  ...(random.happens(settings.manualShare)
    ? {
        manual: {
          afterSeconds: random.between(0, 400),
          verb: random.pick(['complete', 'fail'] as const),
        },
      }
    : {}),
  isOvertaken: random.happens(0.3),
})
