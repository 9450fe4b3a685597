import type { AlarmedMetric } from '../../shared/metrics.ts'
import { deadLetters } from '../../shared/queues/messages.ts'
import { type AlarmRow, COUNTED, HIGHEST } from './alarm-row.ts'
import { lostRecordsQueues, type QueueRow, queuesOf } from './jobs.ts'
import { type OutcomeSettings, outcomeRows } from './outcome-alarms.ts'
import { type PlatformSettings, platformRows } from './platform-alarms.ts'

const MINUTE = { statistic: 'Sum', minutes: 1 }

const HOURS_OF_A_DAY = 24

/** Alarms that fire when the service reports a metric at least once. */
const reported: Partial<Record<AlarmedMetric, string>> = {
  LateCompletion:
    'A bank debited a customer after the debit failed: run operator exception list, then refund or agree with the bank',
  Contradiction:
    'A bank reported failed for a completed debit: run operator exception list, then ask the bank',
  RefusedReport:
    'A bank report was rejected, and its debit may time out: run operator exception list, then correct the report with the bank',
  RefundFailed:
    'A refund failed: run operator exception list --kind refund, fix the cause, then run operator exception refund',
  SettlementUnfinished:
    'Settlement is unfinished two hours after midnight UTC: run operator settlement run for the providers in the log of reconcile-day',
  SettlementNotPaid: 'A due batch could not be paid: operator settlement process prints the reason',
  CalendarMissing: 'Holidays of this year or the next are missing: run operator calendar set',
  SettlementFailed: 'A bank rejected a payout: fix the cause, then run operator settlement retry',
  ReconciliationUnfinished:
    'A reconciliation has not ended after six hours: check queue and log of reconcile-part',
  ReconciliationDifferences: 'Reconciliation found differences: operator reconcile lists them',
}

const lookOf = (metricName: string): AlarmRow['look'] => {
  if (metricName === 'CalendarMissing') return 'operator calendar show --year Y'
  if (metricName.startsWith('Settlement')) return 'operator settlement list --provider P'
  return metricName.startsWith('Reconciliation')
    ? 'operator reconcile --date D'
    : 'operator exception list --status open'
}

/** The name of such an alarm is the metric's in kebab-case, such as `late-completion`. */
const reportedRows = Object.entries(reported).map(
  ([metricName, description]): AlarmRow => ({
    isEvent: true,
    look: lookOf(metricName),
    ...(metricName === 'SettlementUnfinished' && { to: 'page' }),
    name: metricName.replaceAll(/\B[A-Z]/g, '-$&').toLowerCase(),
    description,
    metric: (metrics) => metrics.service(metricName as AlarmedMetric, HIGHEST),
  }),
)

/** Fires if the nightly work of a stage did not end. */
const missingForADay = {
  below: true,
  // One hour more than a day, because runs differ in length.
  periods: HOURS_OF_A_DAY + 1,
  firesWithoutData: true,
} as const

const rows: AlarmRow[] = [
  {
    name: 'charge-throttled',
    look: 'problems',
    description: 'Charges were throttled: raise reserved.charge of the stage',
    metric: (metrics) => metrics.lambda('charge', 'Throttles', COUNTED),
  },
  {
    name: 'stream-late',
    look: 'problems',
    to: 'page',
    description:
      'The relay is a minute behind the table: find "fault" in its log; the sweep relays in the background',
    metric: (metrics) => metrics.lambda('relay', 'IteratorAge', HIGHEST),
    threshold: 60_000,
  },
  {
    name: 'sweep-missing',
    look: 'problems',
    to: 'page',
    description: 'No sweep has finished for five minutes: check its schedule, queue and log',
    metric: (metrics) => metrics.service('SweepRuns', MINUTE),
    below: true,
    periods: 5,
    firesWithoutData: true,
  },
  {
    name: 'sweep-behind',
    look: 'problems',
    description:
      'The sweep has not checked the debits of ten minutes: find "fault" and its provider in the log of sweep',
    metric: (metrics) => metrics.service('SweepLagSeconds', HIGHEST),
    threshold: 600,
  },
  {
    // The next run may succeed; an item that fails twice is delayed.
    name: 'sweep-faults',
    look: 'problems',
    description:
      'The sweep cannot check an item, a shard or a provider: find "fault" and its subject in the log of sweep',
    metric: (metrics) => metrics.service('SweepFaults', COUNTED),
    periods: 2,
  },
  {
    // Only attempts measure it. The service disables the webhook after five days of failures.
    isEvent: true,
    name: 'webhook-failing',
    look: 'webhook-attempts',
    description:
      'All attempts at a webhook have failed for three days: find the provider in the log and call it',
    metric: (metrics) => metrics.service('WebhookFailingDays', HIGHEST),
    threshold: 3,
  },
  {
    name: 'unusual-use',
    look: 'operator credential list --provider P',
    to: 'page',
    description:
      'A provider\'s charges, invalid accounts or unknown numbers are far above its last weeks: find "use is unusual" in the log of sweep, which names provider and remedy',
    metric: (metrics) => metrics.service('UnusualUse', HIGHEST),
  },
  {
    name: 'bank-down',
    look: 'operator bank show --bank B',
    to: 'page',
    description:
      'The bank of this mail has given no reply for two minutes, and its debits wait: call the bank, then see operator bank show',
    metric: (metrics) => metrics.perBank('BankDown', { statistic: 'Maximum', minutes: 1 }),
  },
  {
    name: 'prompts-refused',
    look: 'problems',
    description:
      'Customers had too many approval prompts: find "too many prompts" in the log of submit-to-bank, which names provider and remedy',
    metric: (metrics) => metrics.service('PromptsRefused', COUNTED),
    threshold: 10,
  },
  {
    name: 'unwanted-prompts',
    look: 'problems',
    description:
      'Customers decline most prompts of a provider or let them time out: find "prompts are unwanted" in the log of sweep, which names provider and remedy',
    metric: (metrics) => metrics.service('UnwantedPrompts', HIGHEST),
  },
  {
    // Without a retry by the bank the debit times out.
    name: 'bank-requests-limited',
    look: 'bank-refusals',
    description:
      'A bank received 429 and its reports may be lost: find caller and operation in the log, then run operator limit set --bank',
    metric: (metrics) => metrics.service('BankRequestsLimited', COUNTED),
  },
  {
    name: 'bank-credentials-refused',
    look: 'bank-refusals',
    description:
      'Bank operations answered 401 or 403: find the address in the access log, then check operator credential list --bank for an expired or revoked token',
    metric: (metrics) => metrics.service('BankCredentialsRefused', COUNTED),
    threshold: 5,
  },
  {
    // A single refused report is an exception; many refusals mean a faulty client.
    name: 'bank-requests-refused',
    look: 'bank-refusals',
    description:
      'Banks received many 4xx replies: find caller and operation in the log, then correct the client with the bank',
    metric: (metrics) => metrics.service('BankRequestsRefused', COUNTED),
    threshold: 20,
  },
  {
    name: 'secrets-unreadable',
    look: 'problems',
    to: 'page',
    description:
      'A stored secret cannot be opened, so its webhook, bank or provider stops, or calls about customers fail: run operator secret reseal, then replace the secrets that it logs',
    metric: (metrics) => metrics.service('SecretsUnreadable', COUNTED),
  },
  {
    name: 'change-records-altered',
    look: 'problems',
    to: 'page',
    description:
      'A change record was updated or removed, which no function may do: find "change record" in the log of relay, then who wrote to the table',
    metric: (metrics) => metrics.service('ChangeRecordsAltered', COUNTED),
  },
  {
    name: 'reconciliation-missing',
    look: 'problems',
    description:
      'No reconciliation has ended for a day: check the schedule and the logs of reconcile-day and reconcile-part; the next night reconciles the day too',
    metric: (metrics) =>
      metrics.service('ReconciliationDifferences', { statistic: 'SampleCount', minutes: 60 }),
    ...missingForADay,
  },
  {
    name: 'audit-missing',
    look: 'operator change verify --from D --to D',
    description:
      'No audit object was written for a day: find "fault" in the log of reconcile-part; the next night seals the day too',
    metric: (metrics) => metrics.service('DaysSealed', { statistic: 'SampleCount', minutes: 60 }),
    ...missingForADay,
  },
]

/** Alarms on a queue of failed messages; `remedy` empties it. */
const failedRows = (
  name: string,
  look: AlarmRow['look'],
  { meaning, remedy }: { meaning: string; remedy: string },
): AlarmRow[] => [
  {
    name,
    look,
    description: `${meaning}: find "fault" in the consumer's log, fix the cause, then ${remedy}`,
    metric: (metrics) => metrics.queueCount(name, { statistic: 'Maximum', minutes: 1 }),
  },
  {
    // SQS keeps messages for 14 days after the first send, which was up to four days earlier.
    // ApproximateAgeOfOldestMessage ignores those that were listed three times.
    name: `${name}-old`,
    look,
    description: `Messages were in ${name} each hour of a week and may soon expire: ${remedy} now`,
    metric: (metrics) => metrics.queueCount(name, { statistic: 'Maximum', minutes: 60 }),
    periods: 7 * HOURS_OF_A_DAY,
  },
]

const deadLetterRows = ({ name }: QueueRow): AlarmRow[] =>
  failedRows(deadLetters(name), 'operator dead-letters list', {
    meaning: 'Messages failed repeatedly',
    remedy: `run operator dead-letters redrive --queue ${name}`,
  })

/** Their positions in the stream cannot be redriven. */
const lostRecordsRows = (name: string): AlarmRow[] =>
  failedRows(name, 'problems', {
    meaning: 'Records of the stream failed repeatedly',
    remedy: `run operator debit repair and purge ${name}`,
  })

/** Returns the alarms of a stage, except those of its rollouts. */
export const alarmRows = (stage: OutcomeSettings & PlatformSettings): AlarmRow[] => [
  ...outcomeRows(stage),
  ...rows,
  ...platformRows(stage),
  ...reportedRows,
  ...queuesOf(stage).flatMap(deadLetterRows),
  ...lostRecordsQueues(stage).flatMap(lostRecordsRows),
]
