import type { FaultName } from '../engine/faults.ts'
import type { Random } from '../engine/random.ts'

/** The kinds of scenarios, with their share of the runs. */

export type KindSettings = {
  /** The share of debits that an operator reverses. */
  reversedShare: number
  /** Whether most reversals follow the settlement, while the providers charge less each day. */
  isReversedLate: boolean
  /** The share of payouts and refunds that a bank rejects. */
  rejectedShare: number
  /** The share of the others that a bank pays only later. */
  underwayShare: number
  /** Changes of accounts, fees and limits by operators. */
  settingChanges: number
  /** Whether operators retry failed payouts and refunds and resolve exceptions each day. */
  hasRounds: boolean
  /** The share of debits whose outcome an operator records. */
  manualShare: number
  /** The share of runs in which a second operator approves guarded calls. */
  approvalShare: number
  /** The share of reports that the service must reject or round. */
  malformedShare: number
  /** A careless bank never repeats a report after 429 or 5xx. */
  reportsOnce: boolean
  /** A bank that is not idempotent acts on each POST. */
  isIdempotent: boolean
  /** Faults that every run of the kind has. */
  faults: readonly FaultName[]
  /** Whether the table returns to an earlier second. */
  isRestored: boolean
  /** Charges of one provider at once, instead of the usual number of debits. */
  burst: number
}

type Kind = { weight: number; description: string; settings: Partial<KindSettings> }

const usual: KindSettings = {
  reversedShare: 0.2,
  isReversedLate: false,
  rejectedShare: 0.12,
  underwayShare: 0.25,
  settingChanges: 0,
  hasRounds: false,
  manualShare: 0,
  approvalShare: 0,
  malformedShare: 0.08,
  reportsOnce: false,
  isIdempotent: true,
  faults: [],
  isRestored: false,
  burst: 0,
}

export const kinds = {
  usual: { weight: 120, description: 'two or three bursts of charges', settings: {} },
  reversals: {
    weight: 80,
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
