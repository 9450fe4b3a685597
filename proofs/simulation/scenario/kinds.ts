import type { FaultName } from '../engine/faults.ts'

/** The settings of a usual scenario; other kinds change some. */
const usual = {
  reversedShare: 0.2,
  /** Whether most reversals follow the settlement, on days of fewer charges. */
  isReversedLate: false,
  /** The share of bursts just before a midnight. */
  midnightShare: 0.3,
  rejectedShare: 0.12,
  /** The share of the others that a bank pays only later. */
  underwayShare: 0.25,
  settingChanges: 3,
  /** The share of runs in which operators create one of the providers and banks. */
  absentShare: 0.05,
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
  faults: [] as readonly FaultName[],
  isRestored: false,
  /** Whether the product's page sizes, lanes, leases and time limits are small (engine/sizes.ts). */
  hasSmallSizes: false,
}

export type KindSettings = typeof usual

/** @param weight the runs that have it, of as many as all weights */
const kind = (weight: number, description: string, settings: Partial<KindSettings> = {}) => ({
  weight,
  description,
  settings,
})

export const kinds = {
  usual: kind(8, 'two or three bursts of charges'),
  reversals: kind(10, 'most debits are reversed after their settlement, over four days', {
    reversedShare: 0.6,
    isReversedLate: true,
    rejectedShare: 0.35,
    hasRounds: true,
    approvalShare: 0.2,
  }),
  'changing settings': kind(9, 'operators change all settings during the run', {
    settingChanges: 40,
    absentShare: 0.5,
    underwayShare: 0.6,
    hasRounds: true,
    approvalShare: 0.5,
  }),
  'careless banks': kind(8, 'banks send malformed reports and never repeat one', {
    malformedShare: 0.4,
    reportsOnce: true,
    hasRounds: true,
  }),
  'banks without idempotency': kind(8, 'banks act on each POST, so a repeat must follow a query', {
    isIdempotent: false,
    rejectedShare: 0.25,
  }),
  operators: kind(10, 'operators record outcomes, retry and resolve during the run', {
    hasRounds: true,
    manualShare: 0.15,
    rejectedShare: 0.4,
    approvalShare: 0.6,
    faults: ['operator settles'],
  }),
  'small sizes': kind(9, 'lanes, divided work and many pages, because the sizes are small', {
    hasSmallSizes: true,
    midnightShare: 0.7,
    reversedShare: 0.35,
    rejectedShare: 0.25,
    hasRounds: true,
    faults: ['slow settlement', 'page cut short', 'index late', 'clock skew'],
  }),
  'outage at midnight': kind(8, 'DynamoDB and SQS fail around a midnight', {
    faults: ['table outage', 'queue outage', 'hot key', 'record lost'],
  }),
  restore: kind(10, 'the table returns to an earlier second, by the runbook', {
    isRestored: true,
    settingChanges: 0,
    absentShare: 0,
  }),
}

export type KindName = keyof typeof kinds
export const kindNames = Object.keys(kinds) as KindName[]

export const settingsOf = (name: KindName): KindSettings => ({ ...usual, ...kinds[name].settings })

const weighted = kindNames.flatMap((name) => Array<KindName>(kinds[name].weight).fill(name))

/** Coprime with the sum of the weights, so that as many successive seeds have each kind by its weight. */
const STEP = 37

export const kindOf = (seed: number) => weighted[(seed * STEP) % weighted.length] as KindName
