import { REFERENCE } from './alarms.ts'
import type { Metric } from './samples.ts'
import { type AwsMetric, type Fault, STAGE } from './traffic.ts'

/** The incidents of docs/operations.md#incidents. */

type Incident = {
  /** The name in the table. */
  incident: string
  /** Minutes of the fault; an hour by default. */
  minutes?: number
  /** Charges a minute; 60 by default. */
  rate?: number
  /** The minute of the day at which the fault begins; 10:00 UTC by default. */
  begins?: number
  fault: Fault
}

const HOUR = 60
const DAY = 24 * HOUR

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

export const incidents: readonly Incident[] = [
  { incident: 'a bank hangs or refuses connections', fault: { banks: { ECO: 'unreachable' } } },
  { incident: 'a bank accepts debits and reports none', fault: { banks: { ECO: 'silent' } } },
  { incident: 'a bank rejects every debit', fault: { banks: { ECO: 'rejects' } } },
  { incident: 'the largest bank rejects every debit', fault: { banks: { GCB: 'rejects' } } },
  {
    incident: 'every bank rejects every debit, at 72 charges an hour',
    rate: 1.2,
    fault: { banks: allBanks('rejects') },
  },
  {
    incident: 'no function reaches another host',
    fault: { banks: allBanks('unreachable'), webhooks: 1 },
  },
  { incident: 'every webhook fails', fault: { webhooks: 1 } },
  {
    incident: 'the webhook of a provider fails for days, with a tenth of the events',
    minutes: 4 * DAY,
    rate: 4,
    fault: { webhooks: 0.1, figures: (since) => ({ WebhookFailingDays: Math.floor(since / DAY) }) },
  },
  { incident: 'charge refuses everything', fault: { refused: 1 } },
  {
    incident: 'charge refuses everything, at 72 charges an hour',
    rate: 1.2,
    fault: { refused: 1 },
  },
  { incident: 'charge fails: 5xx', fault: { broken: 1 } },
  {
    incident: 'a new version of charge fails: 5xx for a tenth',
    minutes: 10,
    fault: { broken: 0.1 },
  },
  { incident: 'charge is slow: 300 ms', fault: { slow: 300 } },
  {
    incident: 'submit-to-bank fails',
    fault: {
      banks: allBanks('unsubmitted'),
      aws: [queue('submissions-dead-letters', 'letters', lettersAfter(RETRIES_MINUTES))],
    },
  },
  {
    incident: 'the event source of submit-to-bank is disabled',
    fault: {
      banks: allBanks('unsubmitted'),
      aws: [queue('submissions', 'age', (since) => 60 * since)],
    },
  },
  {
    incident: 'the event source of deliver-webhook is disabled',
    fault: { aws: [queue('webhooks-high', 'age', (since) => 60 * since)] },
  },
  {
    incident: 'a record of the stream cannot be relayed',
    fault: {
      aws: [
        functionMetric('relay', 'IteratorAge', (since) => (since < 5 ? 60_000 * since : 400)),
        queue('relay-lost-records', 'letters', lettersAfter(5)),
      ],
    },
  },
  {
    incident: 'relay fails',
    fault: {
      isStopped: true,
      figures: () => ({ SweepRuns: 1, SweepLagSeconds: 150 }),
      aws: [functionMetric('relay', 'IteratorAge', (since) => 60_000 * since)],
    },
  },
  { incident: 'the data key is disabled', fault: { isStopped: true, broken: 1 } },
  {
    incident: 'the table is restored: the stage is paused',
    fault: { isStopped: true, refused: 0, broken: 0 },
    rate: 0.001,
  },
  {
    incident: 'the table throttles writes',
    fault: { aws: [aws('DynamoDB', 'WriteThrottleEvents', { TableName: REFERENCE }, every(20))] },
  },
  {
    incident: 'a quota of Scheduler throttles timeouts',
    fault: {
      aws: [aws('Scheduler', 'InvocationThrottleCount', { ScheduleGroup: STAGE }, every(5))],
    },
  },
  {
    incident: 'a flood reaches the concurrency of charge',
    fault: {
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
  },
  {
    incident: 'anonymous callers scan the API, 20 requests a minute',
    rate: 0.05,
    fault: {
      aws: [
        aws('ApiGateway', '4XXError', { ApiName: STAGE, Stage: 'production' }, every(20)),
        aws('ApiGateway', 'Count', { ApiName: STAGE, Stage: 'production' }, every(20)),
      ],
      figures: () => ({ BankCredentialsRefused: 20 }),
    },
  },
  {
    incident: "a provider's credential is misused",
    fault: { figures: (since) => (since % 10 === 0 ? { UnusualUse: 1 } : {}) },
  },
  {
    incident: 'a batch is not built by 02:00 UTC and not paid on its day',
    begins: DAY + 2 * HOUR,
    minutes: 2 * DAY + 1,
    rate: 1,
    fault: {
      figures: (since) =>
        since % DAY === 0
          ? { SettlementUnfinished: since === 0 ? 1 : 0, OverduePayouts: since < 2 * DAY ? 0 : 1 }
          : {},
    },
  },
  {
    incident: 'a bank debits a customer after the debit failed; open for two nights',
    minutes: 2 * DAY,
    rate: 1,
    fault: {
      figures: (since) => ({
        ...(since === 0 && { LateCompletion: 1 }),
        ...((since + 10 * HOUR) % DAY === 2 * HOUR && { OpenExceptions: 1 }),
      }),
    },
  },
]
