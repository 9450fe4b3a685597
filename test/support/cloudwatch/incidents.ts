import { REFERENCE } from './alarms.ts'
import type { Metric } from './samples.ts'
import { type AwsMetric, type Fault, STAGE } from './traffic.ts'

/** The incidents of docs/operations.md#incidents. */

/** A fault, with what differs from an hour from 10:00 UTC at 60 charges a minute. */
type Incident = Fault & {
  minutes?: number
  /** Charges a minute. */
  rate?: number
  /** The minute of the day at which the fault begins. */
  begins?: number
}

/** Minutes. */
export const HOUR = 60
export const DAY = 24 * HOUR
/** 10:00 UTC of the second day: the night's jobs have run. */
export const TEN = DAY + 10 * HOUR

const aws = (
  namespace: string,
  name: string,
  dimensions: Metric['dimensions'],
  value: AwsMetric['value'],
): AwsMetric => ({ namespace: `AWS/${namespace}`, name, dimensions, value })

const queue = (name: string, metric: 'age' | 'letters', value: AwsMetric['value']): AwsMetric =>
  aws(
    'SQS',
    metric === 'age' ? 'ApproximateAgeOfOldestMessage' : 'ApproximateNumberOfMessagesVisible',
    { QueueName: `${STAGE}-${name}` },
    value,
  )

const functionMetric = (name: string, metric: string, value: AwsMetric['value']): AwsMetric =>
  aws('Lambda', metric, { FunctionName: `${STAGE}-${name}` }, value)

/** A message fails twelve times before it is a dead letter. */
const RETRIES_MINUTES = 8
const lettersAfter = (minutes: number) => (since: number) => (since >= minutes ? 1 : undefined)

const every = (value: number) => () => value

const ALL_BANKS = ['GCB', 'ECO', 'CAL', 'NIB']
const allBanks = (fault: NonNullable<Fault['banks']>[string]) =>
  Object.fromEntries(ALL_BANKS.map((bank) => [bank, fault]))

/** Shares of the banks in the charges. */
export const banks = { GCB: 0.5, ECO: 0.3, CAL: 0.18, NIB: 0.02 }

/** By their names in the table. */
export const incidents: Record<string, Incident> = {
  'a bank hangs or refuses connections': { banks: { ECO: 'unreachable' } },
  'a bank accepts debits and reports none': { banks: { ECO: 'silent' } },
  'a bank rejects every debit': { banks: { ECO: 'rejects' } },
  'the largest bank rejects every debit': { banks: { GCB: 'rejects' } },
  'every bank rejects every debit, at 72 charges an hour': {
    rate: 1.2,
    banks: allBanks('rejects'),
  },
  'no function reaches another host': { banks: allBanks('unreachable'), webhooks: 1 },
  'every webhook fails': { webhooks: 1 },
  'the webhook of a provider fails for days, with a tenth of the events': {
    minutes: 4 * DAY,
    rate: 4,
    webhooks: 0.1,
    figures: (since) => ({ WebhookFailingDays: Math.floor(since / DAY) }),
  },
  'charge refuses everything': { refused: 1 },
  'charge refuses everything, at 72 charges an hour': { rate: 1.2, refused: 1 },
  'charge fails: 5xx': { broken: 1 },
  'a new version of charge fails: 5xx for a tenth': { minutes: 10, broken: 0.1 },
  'charge is slow: 300 ms': { slow: 300 },
  'submit-to-bank fails': {
    banks: allBanks('unsubmitted'),
    aws: [queue('submissions-dead-letters', 'letters', lettersAfter(RETRIES_MINUTES))],
  },
  'the event source of submit-to-bank is disabled': {
    banks: allBanks('unsubmitted'),
    aws: [queue('submissions', 'age', (since) => 60 * since)],
  },
  'the event source of deliver-webhook is disabled': {
    aws: [queue('webhooks-high', 'age', (since) => 60 * since)],
  },
  'a record of the stream cannot be relayed': {
    aws: [
      functionMetric('relay', 'IteratorAge', (since) => (since < 5 ? 60_000 * since : 400)),
      queue('relay-lost-records', 'letters', lettersAfter(5)),
    ],
  },
  'relay fails': {
    isStopped: true,
    figures: () => ({ SweepRuns: 1, SweepLagSeconds: 150 }),
    aws: [functionMetric('relay', 'IteratorAge', (since) => 60_000 * since)],
  },
  'the data key is disabled': { isStopped: true, broken: 1 },
  'the table is restored: the stage is paused': {
    rate: 0.001,
    isStopped: true,
    refused: 0,
    broken: 0,
    // Their event sources are disabled; the schedules of debits still send.
    aws: ['timeouts', 'expiries', 'webhooks-high'].map((name) =>
      queue(name, 'age', (since) => 60 * since),
    ),
  },
  'the table throttles writes': {
    aws: [aws('DynamoDB', 'WriteThrottleEvents', { TableName: REFERENCE }, every(20))],
  },
  'a quota of Scheduler throttles timeouts': {
    aws: [aws('Scheduler', 'InvocationThrottleCount', { ScheduleGroup: STAGE }, every(5))],
  },
  'a flood reaches the concurrency of charge': {
    broken: 0.2,
    aws: [
      functionMetric('charge', 'Throttles', every(12)),
      aws('Lambda', 'Throttles', {}, every(12)),
      aws(
        'WAFV2',
        'BlockedRequests',
        { WebACL: STAGE, Region: REFERENCE, Rule: 'ALL' },
        every(500),
      ),
    ],
  },
  'a revoked token of a bank is used, 20 requests a minute': {
    rate: 0.05,
    aws: [
      aws('ApiGateway', '4XXError', { ApiName: STAGE, Stage: 'production' }, every(20)),
      aws('ApiGateway', 'Count', { ApiName: STAGE, Stage: 'production' }, every(20)),
    ],
    figures: () => ({ BankCredentialsRefused: 20 }),
  },
  "a provider's credential is misused": {
    figures: (since) => (since % 10 === 0 ? { UnusualUse: 1 } : {}),
  },
  'a batch is not built by 02:00 UTC and not paid on its day': {
    begins: DAY + 2 * HOUR,
    minutes: 2 * DAY + 1,
    rate: 1,
    figures: (since) =>
      since % DAY === 0
        ? { SettlementUnfinished: since === 0 ? 1 : 0, OverduePayouts: since < 2 * DAY ? 0 : 1 }
        : {},
  },
  'a bank debits a customer after the debit failed; open for two nights': {
    minutes: 2 * DAY,
    rate: 1,
    figures: (since) => ({
      ...(since === 0 && { LateCompletion: 1 }),
      ...((since + 10 * HOUR) % DAY === 2 * HOUR && { OpenExceptions: 1 }),
    }),
  },
}
