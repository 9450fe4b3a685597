import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Metrics } from './metrics.ts'

/** What somebody should look at: a figure, from where on it is too much, and what to do then. */
export type AlarmRow = {
  name: string
  /** What has happened, and after the colon what to do about it. */
  description: string
  figure: (figures: Metrics) => IMetric
  /** It rings from here on; with `below`, when the figure is less. */
  threshold: number
  below?: true
  /** How many figures in a row must be bad. */
  times?: number
  /** That there is no figure is as bad. */
  silence?: true
  /** Of a handful, the slowest says nothing about one in a hundred. */
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
    description:
      'Callers were answered with 5xx: look for "fault" in the logs of the functions, by request_id',
    figure: (figures) => figures.api('5XXError', COUNTED),
    threshold: 5,
  },
  {
    name: 'charge-slow',
    description:
      'One charge in a hundred takes over 200 ms: look for throttled writes of the table and of charge',
    figure: (figures) => figures.chargeLatency({ statistic: 'p99' }),
    threshold: 200,
    times: 3,
    needsMany: true,
  },
  {
    name: 'charge-throttled',
    description: 'Charges found no free worker: raise reserved.charge of the stage',
    figure: (figures) => figures.ofFunction('charge', 'Throttles', COUNTED),
    threshold: 1,
  },
  {
    name: 'stream-late',
    description:
      'The relay is a minute behind the table: look for "fault" in its log; the sweep fills in meanwhile',
    figure: (figures) => figures.ofFunction('relay', 'IteratorAge', HIGHEST),
    threshold: 60_000,
  },
  {
    name: 'invocations-dropped',
    description:
      'AWS took a chain of invocations for a loop and broke it: find who sends to the queue that feeds it',
    figure: (figures) => figures.dropped(),
    threshold: 1,
  },
  {
    name: 'sweep-missing',
    description:
      'The sweep has not come to its end for five minutes: look at its schedule, its queue and its log',
    figure: (figures) => figures.own('SweepRuns', MINUTE),
    threshold: 1,
    below: true,
    times: 5,
    silence: true,
  },
  {
    // It is disabled after five days of failures alone; somebody should know before.
    name: 'webhook-failing',
    description:
      "Every attempt at a provider's webhook has failed for three days: call the provider; its log says who",
    figure: (figures) => figures.own('WebhookFailingDays', HIGHEST),
    threshold: 3,
  },
  {
    name: 'late-completion',
    description:
      'A bank debited a customer after the debit failed: run operator exception list, then settle it with the bank',
    figure: (figures) => figures.own('LateCompletion', HIGHEST),
    threshold: 1,
  },
  {
    name: 'contradiction',
    description:
      'A bank reports failed for a completed debit: run operator exception list, then ask the bank which is true',
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
      'A customer was not refunded: run operator exception list --kind refund, then exception refund once the cause is gone',
    figure: (figures) => figures.own('RefundFailed', HIGHEST),
    threshold: 1,
  },
  {
    // The bank's own retry is all that saves such a report before the timeout of its debit.
    name: 'bank-requests-limited',
    description:
      'A bank was answered 429 and its reports may be lost: read caller and operation in the log, then raise the limit with operator limit set --bank',
    figure: (figures) => figures.own('BankRequestsLimited', COUNTED),
    threshold: 1,
  },
  {
    name: 'bank-credentials-refused',
    description:
      'Requests to bank operations were answered 401 or 403: find the address in the access log and look for an expired or revoked token with operator credential list --bank',
    figure: (figures) => figures.own('BankCredentialsRefused', COUNTED),
    threshold: 5,
  },
  {
    // One refused report of an own debit is an exception; many requests are a fault of a client.
    name: 'bank-requests-refused',
    description:
      'Many requests of banks were answered 4xx: read caller and operation in the log, then correct the client together with the bank',
    figure: (figures) => figures.own('BankRequestsRefused', COUNTED),
    threshold: 20,
  },
  {
    name: 'settlement-unfinished',
    description:
      'The night is not settled two hours after it began: operator settlement run, for whom the log of reconcile-day names',
    figure: (figures) => figures.own('SettlementUnfinished', HIGHEST),
    threshold: 1,
  },
  {
    name: 'settlement-not-paid',
    description: 'A batch was due and could not be paid: operator settlement process says why',
    figure: (figures) => figures.own('SettlementNotPaid', HIGHEST),
    threshold: 1,
  },
  {
    name: 'settlement-failed',
    description: 'A bank would not pay a batch: operator settlement retry pays it anew',
    figure: (figures) => figures.own('SettlementFailed', HIGHEST),
    threshold: 1,
  },
  {
    name: 'reconciliation-differences',
    description: 'What stands in the table does not fit together: operator reconcile lists it',
    figure: (figures) => figures.own('ReconciliationDifferences', HIGHEST),
    threshold: 1,
  },
  {
    name: 'reconciliation-missing',
    description:
      'No day was reconciled, and no night looked after, for a day: look at the schedule and the log of reconcile-day',
    figure: (figures) =>
      figures.own('ReconciliationDifferences', { statistic: 'SampleCount', minutes: 60 }),
    threshold: 1,
    below: true,
    // An hour more than a day, as no night takes to the minute as long as the one before.
    times: HOURS_OF_A_DAY + 1,
    silence: true,
  },
]

/** @param name of a queue of dead letters */
const deadLetterRows = (name: string): AlarmRow[] => [
  {
    name,
    description: `Messages failed again and again: look for "fault" in the log of the consumer, mend it, redrive ${name}`,
    figure: (figures) => figures.deadLetters(name, { statistic: 'Maximum', minutes: 1 }),
    threshold: 1,
  },
  {
    // They are kept for 14 days from when they were first sent, up to four days before.
    name: `${name}-old`,
    description: `Messages have been in ${name} for a week, and are deleted in the next: redrive them now`,
    figure: (figures) => figures.deadFor(name, HIGHEST),
    threshold: 7 * DAY_SECONDS,
  },
]

/** @param dead the names of the queues of dead letters */
export const alarmRows = (dead: Iterable<string>): AlarmRow[] => [
  ...rows,
  ...[...dead].flatMap(deadLetterRows),
]
