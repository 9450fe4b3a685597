import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Metrics } from './metrics.ts'

/** Defines an alarm: a metric, its threshold, and the action to take. */
export type AlarmRow = {
  name: string
  /** The event, and after the colon the action. */
  description: string
  figure: (figures: Metrics) => IMetric
  /** Rings at this value and above; with `below`, under it. */
  threshold: number
  below?: true
  /** Consecutive periods that must breach the threshold. */
  times?: number
  /** Missing data also fires the alarm. */
  silence?: true
  /** Ignores periods with too few samples for a percentile. */
  needsMany?: true
}

const COUNTED = { statistic: 'Sum', minutes: 5 }
const HIGHEST = { statistic: 'Maximum', minutes: 5 }
const MINUTE = { statistic: 'Sum', minutes: 1 }
const HOURS_OF_A_DAY = 24
const DAY_SECONDS = 86_400

const rows: AlarmRow[] = [
  {
    name: 'server-errors',
    description: 'Callers received 5xx replies: find "fault" in the function logs by request_id',
    figure: (figures) => figures.api('5XXError', COUNTED),
    threshold: 5,
  },
  {
    name: 'charge-slow',
    description:
      'p99 of charges is over 200 ms: look for throttled table writes and throttles of charge',
    figure: (figures) => figures.chargeLatency({ statistic: 'p99' }),
    threshold: 200,
    times: 3,
    needsMany: true,
  },
  {
    name: 'charge-throttled',
    description: 'Charges were throttled: raise reserved.charge of the stage',
    figure: (figures) => figures.ofFunction('charge', 'Throttles', COUNTED),
    threshold: 1,
  },
  {
    name: 'stream-late',
    description:
      'The relay is a minute behind the table: find "fault" in its log; the sweep relays in the background',
    figure: (figures) => figures.ofFunction('relay', 'IteratorAge', HIGHEST),
    threshold: 60_000,
  },
  {
    name: 'invocations-dropped',
    description:
      'AWS stopped a recursive loop of invocations: find the function that sends to its own queue',
    figure: (figures) => figures.dropped(),
    threshold: 1,
  },
  {
    name: 'sweep-missing',
    description: 'No sweep has finished for five minutes: check its schedule, queue and log',
    figure: (figures) => figures.own('SweepRuns', MINUTE),
    threshold: 1,
    below: true,
    times: 5,
    silence: true,
  },
  {
    // The webhook is disabled after five days of failures.
    name: 'webhook-failing',
    description:
      'All attempts at a webhook have failed for three days: find the provider in the log and call it',
    figure: (figures) => figures.own('WebhookFailingDays', HIGHEST),
    threshold: 3,
  },
  {
    name: 'late-completion',
    description:
      'A bank debited a customer after the debit failed: run operator exception list, then refund or agree with the bank',
    figure: (figures) => figures.own('LateCompletion', HIGHEST),
    threshold: 1,
  },
  {
    name: 'contradiction',
    description:
      'A bank reported failed for a completed debit: run operator exception list, then ask the bank',
    figure: (figures) => figures.own('Contradiction', HIGHEST),
    threshold: 1,
  },
  {
    name: 'refused-report',
    description:
      'A bank report was rejected, and its debit may time out: run operator exception list, then correct the report with the bank',
    figure: (figures) => figures.own('RefusedReport', HIGHEST),
    threshold: 1,
  },
  {
    name: 'refund-failed',
    description:
      'A refund failed: run operator exception list --kind refund, fix the cause, then run operator exception refund',
    figure: (figures) => figures.own('RefundFailed', HIGHEST),
    threshold: 1,
  },
  {
    // Without a retry by the bank the debit times out.
    name: 'bank-requests-limited',
    description:
      'A bank received 429 and its reports may be lost: find caller and operation in the log, then run operator limit set --bank',
    figure: (figures) => figures.own('BankRequestsLimited', COUNTED),
    threshold: 1,
  },
  {
    name: 'bank-credentials-refused',
    description:
      'Bank operations answered 401 or 403: find the address in the access log, then check operator credential list --bank for an expired or revoked token',
    figure: (figures) => figures.own('BankCredentialsRefused', COUNTED),
    threshold: 5,
  },
  {
    // A single refused report is an exception; many refusals mean a faulty client.
    name: 'bank-requests-refused',
    description:
      'Banks received many 4xx replies: find caller and operation in the log, then correct the client with the bank',
    figure: (figures) => figures.own('BankRequestsRefused', COUNTED),
    threshold: 20,
  },
  {
    name: 'settlement-unfinished',
    description:
      'Settlement is unfinished at 02:00 UTC: run operator settlement run for the providers in the log of reconcile-day',
    figure: (figures) => figures.own('SettlementUnfinished', HIGHEST),
    threshold: 1,
  },
  {
    name: 'settlement-not-paid',
    description: 'A due batch could not be paid: operator settlement process prints the reason',
    figure: (figures) => figures.own('SettlementNotPaid', HIGHEST),
    threshold: 1,
  },
  {
    name: 'settlement-failed',
    description: 'A bank rejected a payout: fix the cause, then run operator settlement retry',
    figure: (figures) => figures.own('SettlementFailed', HIGHEST),
    threshold: 1,
  },
  {
    name: 'reconciliation-differences',
    description: 'Reconciliation found differences: operator reconcile lists them',
    figure: (figures) => figures.own('ReconciliationDifferences', HIGHEST),
    threshold: 1,
  },
  {
    name: 'reconciliation-missing',
    description:
      'No reconciliation has run for a day: check the schedule and the log of reconcile-day',
    figure: (figures) =>
      figures.own('ReconciliationDifferences', { statistic: 'SampleCount', minutes: 60 }),
    threshold: 1,
    below: true,
    // One hour more than a day, because runs differ in length.
    times: HOURS_OF_A_DAY + 1,
    silence: true,
  },
]

/** @param name of a dead-letter queue */
const deadLetterRows = (name: string): AlarmRow[] => [
  {
    name,
    description: `Messages failed repeatedly: find "fault" in the consumer's log, fix the cause, then redrive ${name}`,
    figure: (figures) => figures.deadLetters(name, { statistic: 'Maximum', minutes: 1 }),
    threshold: 1,
  },
  {
    // SQS keeps messages for 14 days after the first send, which was up to four days earlier.
    name: `${name}-old`,
    description: `Messages have been in ${name} for a week and expire in the next: redrive them now`,
    figure: (figures) => figures.deadFor(name, HIGHEST),
    threshold: 7 * DAY_SECONDS,
  },
]

/** @param dead names of the dead-letter queues */
export const alarmRows = (dead: Iterable<string>): AlarmRow[] => [
  ...rows,
  ...[...dead].flatMap(deadLetterRows),
]
