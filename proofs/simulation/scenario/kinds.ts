import type { FaultName } from '../engine/faults.ts'
import type { Random } from '../engine/random.ts'

/** The kinds of scenarios, with their share of the runs. */

/** The settings of a usual scenario; other kinds change some. */
const usual = {
  /** The share of debits that an operator reverses. */
  reversedShare: 0.2,
  /** Whether most reversals follow the settlement, while the providers charge less each day. */
  isReversedLate: false,
  /** The share of payouts and refunds that a bank rejects. */
  rejectedShare: 0.12,
  /** The share of the others that a bank pays only later. */
  underwayShare: 0.25,
  /** Changes of accounts, fees and limits by operators. */
  settingChanges: 0,
  /** Whether operators retry failed payouts and refunds and resolve exceptions each day. */
  hasRounds: false,
  /** The share of debits whose outcome an operator records. */
  manualShare: 0,
  /** The share of runs in which a second operator approves guarded calls. */
  approvalShare: 0,
  /** The share of reports that the service must reject or round. */
  malformedShare: 0.08,
  /** A careless bank never repeats a report after 429 or 5xx. */
  reportsOnce: false,
  /** A bank that is not idempotent acts on each POST. */
  isIdempotent: true,
  /** Faults that every run of the kind has. */
  faults: [] as readonly FaultName[],
  /** Whether the table returns to an earlier second. */
  isRestored: false,
  /** Charges of one provider at once, instead of the usual number of debits. */
  burst: 0,
}

export type KindSettings = typeof usual

type Kind = { weight: number; description: string; settings: Partial<KindSettings> }

export const kinds = {
  usual: { weight: 120, description: 'two or three bursts of charges', settings: {} },
  reversals: {
    weight: 60,
    description: 'most debits are reversed after their settlement, over four days',
    settings: {
      reversedShare: 0.6,
      isReversedLate: true,
      rejectedShare: 0.35,
      hasRounds: true,
      approvalShare: 0.2,
    },
  },
  'changing settings': {
    weight: 50,
    description: 'operators change accounts, fees and limits during the run',
    settings: { settingChanges: 24, underwayShare: 0.6, hasRounds: true, approvalShare: 0.3 },
  },
  'careless banks': {
    weight: 50,
    description: 'banks send malformed reports and never repeat one',
    settings: { malformedShare: 0.4, reportsOnce: true, hasRounds: true },
  },
  'banks without idempotency': {
    weight: 25,
    description: 'banks act on each POST, so a repeat must follow a query',
    settings: { isIdempotent: false, rejectedShare: 0.25 },
  },
  operators: {
    weight: 50,
    description: 'operators record outcomes, retry and resolve during the run',
    settings: {
      hasRounds: true,
      manualShare: 0.15,
      rejectedShare: 0.4,
      approvalShare: 0.6,
      settingChanges: 4,
      faults: ['operator settles'],
    },
  },
  'slow settlement': {
    weight: 12,
    description: 'settlement runs reach their time limit, and others continue them',
    settings: { faults: ['slow settlement', 'page cut short'], reversedShare: 0.05 },
  },
  'outage at midnight': {
    weight: 20,
    description: 'DynamoDB and SQS fail around a midnight',
    settings: { faults: ['table outage', 'queue outage'] },
  },
  restore: {
    weight: 8,
    description: 'the table returns to an earlier second, by the runbook',
    settings: { isRestored: true },
  },
  burst: {
    weight: 1,
    description: '2,000 debits of one provider at once, with a stream of eight shards',
    settings: { burst: 2_000 },
  },
} as const satisfies Record<string, Kind>

export type KindName = keyof typeof kinds
export const kindNames = Object.keys(kinds) as KindName[]

export const settingsOf = (name: KindName): KindSettings => ({ ...usual, ...kinds[name].settings })

const weighted = kindNames.flatMap((name) => Array<KindName>(kinds[name].weight).fill(name))

export const drawKind = (random: Random): KindName => random.pick(weighted)
