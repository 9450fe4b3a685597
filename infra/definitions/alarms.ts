import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import type { MetricName } from '../../shared/metrics.ts'
import { deadLetterQueues, type StageBanks } from './jobs.ts'
import type { Metrics } from './metrics.ts'

export type AlarmRow = {
  name: string
  /** The event, and after the colon the action. */
  description: string
  metric: (metrics: Metrics) => IMetric
  /** Fires at this value and above; with `below`, under it. */
  threshold: number
  below?: true
  /** Consecutive periods that must breach the threshold. */
  periods?: number
  firesWithoutData?: true
  ignoresFewSamples?: true
  /** The composite alarm that notifies; an alarm without a cause notifies itself. */
  cause?: AlarmCause
}

/** Composite alarms: the alarms of a cause ring together, and one notification is enough. */
export const causes = {
  'api-failing': 'Callers receive errors or slow replies: the alarms of the API say which',
  'events-late': 'Events reach queues late or not at all: the alarms of relay and sweep say why',
  'bank-requests-failing': "A bank's requests are rejected: its alarms say with which status",
  'bank-exceptions': 'A bank and the service disagree about money: run operator exception list',
  'settlement-failing': 'A provider may be paid late: the alarms of settlement say why',
  'reconciliation-failing': 'The table was not verified or has differences: see operator reconcile',
} as const

export type AlarmCause = keyof typeof causes

const COUNTED = { statistic: 'Sum', minutes: 5 }
const HIGHEST = { statistic: 'Maximum', minutes: 5 }
const MINUTE = { statistic: 'Sum', minutes: 1 }
const HOURS_OF_A_DAY = 24
const DAY_SECONDS = 86_400

/** Alarms that fire when the service reports a metric at least once. */
const reported: Partial<Record<MetricName, readonly [AlarmCause, string]>> = {
  LateCompletion: [
    'bank-exceptions',
    'A bank debited a customer after the debit failed: run operator exception list, then refund or agree with the bank',
  ],
  Contradiction: [
    'bank-exceptions',
    'A bank reported failed for a completed debit: run operator exception list, then ask the bank',
  ],
  RefusedReport: [
    'bank-exceptions',
    'A bank report was rejected, and its debit may time out: run operator exception list, then correct the report with the bank',
  ],
  RefundFailed: [
    'bank-exceptions',
    'A refund failed: run operator exception list --kind refund, fix the cause, then run operator exception refund',
  ],
  SettlementUnfinished: [
    'settlement-failing',
    'Settlement is unfinished two hours after midnight UTC: run operator settlement run for the providers in the log of reconcile-day',
  ],
  SettlementNotPaid: [
    'settlement-failing',
    'A due batch could not be paid: operator settlement process prints the reason',
  ],
  SettlementFailed: [
    'settlement-failing',
    'A bank rejected a payout: fix the cause, then run operator settlement retry',
  ],
  ReconciliationDifferences: [
    'reconciliation-failing',
    'Reconciliation found differences: operator reconcile lists them',
  ],
}

/** The name of such an alarm is the metric's in kebab-case, such as `late-completion`. */
const reportedRows = Object.entries(reported).map(
  ([metricName, [cause, description]]): AlarmRow => ({
    cause,
    name: metricName.replaceAll(/\B[A-Z]/g, '-$&').toLowerCase(),
    description,
    metric: (metrics) => metrics.service(metricName as MetricName, HIGHEST),
    threshold: 1,
  }),
)

/** Alarms that return a deployment to the previous version. */
export const rollbackAlarms: AlarmRow[] = [
  {
    name: 'server-errors',
    cause: 'api-failing',
    description: 'Callers received 5xx replies: find "fault" in the function logs by request_id',
    metric: (metrics) => metrics.api('5XXError', COUNTED),
    threshold: 5,
  },
  {
    name: 'charge-slow',
    cause: 'api-failing',
    description:
      'The p99 of charges is over 200 ms: look for throttled table writes and throttles of charge',
    metric: (metrics) => metrics.chargeLatency({ statistic: 'p99' }),
    threshold: 200,
    periods: 3,
    ignoresFewSamples: true,
  },
  {
    name: 'endpoints-crashed',
    cause: 'api-failing',
    description:
      'Endpoints crashed or timed out: find the error above "REPORT" in the log of the function',
    metric: (metrics) => metrics.crashes(),
    threshold: 1,
  },
]

const rows: AlarmRow[] = [
  {
    name: 'charge-throttled',
    cause: 'api-failing',
    description: 'Charges were throttled: raise reserved.charge of the stage',
    metric: (metrics) => metrics.lambda('charge', 'Throttles', COUNTED),
    threshold: 1,
  },
  {
    name: 'stream-late',
    cause: 'events-late',
    description:
      'The relay is a minute behind the table: find "fault" in its log; the sweep relays in the background',
    metric: (metrics) => metrics.lambda('relay', 'IteratorAge', HIGHEST),
    threshold: 60_000,
  },
  {
    name: 'invocations-dropped',
    description:
      'AWS stopped a recursive loop of invocations: find the function that sends to its own queue',
    metric: (metrics) => metrics.droppedInvocations(),
    threshold: 1,
  },
  {
    name: 'sweep-missing',
    cause: 'events-late',
    description: 'No sweep has finished for five minutes: check its schedule, queue and log',
    metric: (metrics) => metrics.service('SweepRuns', MINUTE),
    threshold: 1,
    below: true,
    periods: 5,
    firesWithoutData: true,
  },
  {
    // The webhook is disabled after five days of failures.
    name: 'webhook-failing',
    description:
      'All attempts at a webhook have failed for three days: find the provider in the log and call it',
    metric: (metrics) => metrics.service('WebhookFailingDays', HIGHEST),
    threshold: 3,
  },
  {
    // Without a retry by the bank the debit times out.
    name: 'bank-requests-limited',
    cause: 'bank-requests-failing',
    description:
      'A bank received 429 and its reports may be lost: find caller and operation in the log, then run operator limit set --bank',
    metric: (metrics) => metrics.service('BankRequestsLimited', COUNTED),
    threshold: 1,
  },
  {
    name: 'bank-credentials-refused',
    cause: 'bank-requests-failing',
    description:
      'Bank operations answered 401 or 403: find the address in the access log, then check operator credential list --bank for an expired or revoked token',
    metric: (metrics) => metrics.service('BankCredentialsRefused', COUNTED),
    threshold: 5,
  },
  {
    // A single refused report is an exception; many refusals mean a faulty client.
    name: 'bank-requests-refused',
    cause: 'bank-requests-failing',
    description:
      'Banks received many 4xx replies: find caller and operation in the log, then correct the client with the bank',
    metric: (metrics) => metrics.service('BankRequestsRefused', COUNTED),
    threshold: 20,
  },
  {
    name: 'reconciliation-missing',
    cause: 'reconciliation-failing',
    description:
      'No reconciliation has run for a day: check the schedule and the log of reconcile-day',
    metric: (metrics) =>
      metrics.service('ReconciliationDifferences', { statistic: 'SampleCount', minutes: 60 }),
    threshold: 1,
    below: true,
    // One hour more than a day, because runs differ in length.
    periods: HOURS_OF_A_DAY + 1,
    firesWithoutData: true,
  },
]

const deadLetterRows = (name: string): AlarmRow[] => [
  {
    name,
    description: `Messages failed repeatedly: find "fault" in the consumer's log, fix the cause, then redrive ${name}`,
    metric: (metrics) => metrics.queueCount(name, { statistic: 'Maximum', minutes: 1 }),
    threshold: 1,
  },
  {
    // SQS keeps messages for 14 days after the first send, which was up to four days earlier.
    name: `${name}-old`,
    description: `Messages have been in ${name} for a week and expire in the next: redrive them now`,
    metric: (metrics) => metrics.queueAge(name, HIGHEST),
    threshold: 7 * DAY_SECONDS,
  },
]

/** Returns the alarms of a stage, except those of its rollouts. */
export const alarmRows = (stage: StageBanks): AlarmRow[] => [
  ...rows,
  ...reportedRows,
  ...deadLetterQueues(stage).flatMap(deadLetterRows),
]
