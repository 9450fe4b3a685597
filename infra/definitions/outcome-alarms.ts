import type { QueueName } from '../../shared/queues/messages.ts'
import { type AlarmRow, HIGHEST } from './alarm-row.ts'
import { type QueueRow, queuesOf, type StageBanks } from './jobs.ts'
import { calculated, type Metrics } from './metrics.ts'
import type { Stage } from './stages.ts'

/**
 * Alarms on results. Each compares failures with successes: eight more failures in ten minutes are a
 * success share under a half, of at least eight results. So they ring within ten minutes at one result a
 * minute, earlier above, and never for the few failures of a quiet night.
 */

const EXCESS = 8
const RECENT = { statistic: 'Sum', minutes: 10 }

const outcomes: AlarmRow[] = [
  {
    name: 'completions-low',
    look: 'failed-debits',
    to: 'page',
    description:
      'More debits fail than complete: see "Failed debits by code" and "Debits by bank" on the dashboard',
    metric: (metrics) =>
      calculated(
        'Failed less completed debits',
        'FILL(failed, 0) - FILL(completed, 0)',
        {
          failed: metrics.service('DebitsFailed', RECENT),
          completed: metrics.service('DebitsCompleted', RECENT),
        },
        RECENT.minutes,
      ),
    threshold: EXCESS,
  },
  {
    name: 'bank-failing',
    look: 'failed-debits',
    to: 'page',
    description:
      'More debits of the bank of this mail fail than complete: find the codes of its failed debits, then call the bank',
    metric: (metrics) => metrics.perBank('FailureExcess', RECENT),
    threshold: EXCESS,
  },
  {
    name: 'deliveries-failing',
    look: 'webhook-attempts',
    to: 'page',
    description:
      'More first webhook attempts fail than succeed: find "cause" in "delivery attempted" in the log of deliver-webhook',
    metric: (metrics) =>
      calculated(
        'Failed less successful first attempts',
        '2 * FILL(failed, 0) - FILL(attempts, 0)',
        {
          failed: metrics.service('WebhookFirstFailed', RECENT),
          attempts: metrics.service('WebhookFirstSeconds', { ...RECENT, statistic: 'SampleCount' }),
        },
        RECENT.minutes,
      ),
    threshold: EXCESS,
  },
  {
    name: 'charges-refused',
    look: 'charge-refusals',
    to: 'page',
    description:
      'More charges of known providers are refused than accepted: find their status and caller in the log of charge',
    // Other errors, such as those of anonymous requests, cancel out.
    metric: (metrics) =>
      calculated(
        'Refused less accepted charges',
        'FILL(refused, 0) + FILL(clientErrors, 0) + FILL(serverErrors, 0) - FILL(charges, 0)',
        {
          refused: metrics.service('ChargesRefused', RECENT),
          clientErrors: metrics.charges('4XXError', RECENT),
          serverErrors: metrics.charges('5XXError', RECENT),
          charges: metrics.charges('Count', RECENT),
        },
        RECENT.minutes,
      ),
    threshold: EXCESS,
  },
]

/** Measured each night, so these ring each night until the work is done. */
const reminders: AlarmRow[] = [
  {
    name: 'exceptions-open',
    look: 'operator exception list --status open',
    isEvent: true,
    description: 'Exceptions are open: resolve those of operator exception list --status open',
    metric: (metrics) => metrics.service('OpenExceptions', HIGHEST),
  },
  {
    name: 'requests-overdue',
    look: 'operator exception list --kind reversal_request --status open',
    isEvent: true,
    description:
      'Reversal requests of providers wait longer than five working days: accept or decline those of operator exception list --kind reversal_request --status open',
    metric: (metrics) => metrics.service('RequestsOverdue', HIGHEST),
  },
  {
    name: 'payouts-overdue',
    look: 'operator settlement list --provider P',
    isEvent: true,
    description:
      'Payouts of earlier days are not made: operator settlement process prints the reason of each batch',
    metric: (metrics) => metrics.service('OverduePayouts', HIGHEST),
  },
  {
    name: 'providers-owing',
    look: 'operator day close --date D',
    isEvent: true,
    description:
      'Providers owe 1,000 GHS or more since an earlier day: later batches collect it; ask those without new debits, which operator day close names, for a transfer, and record it by operator settlement complete',
    metric: (metrics) => metrics.service('ProvidersOwing', HIGHEST),
    threshold: 1_000,
  },
]

/** Where remittances are not recorded, all that banks collect is owed. */
const remittanceRow: AlarmRow = {
  name: 'banks-owing',
  look: 'operator day close --date D',
  isEvent: true,
  description:
    'Banks owe money for more than two days: record remittances that have arrived, and ask the banks that operator day close names for the others',
  metric: (metrics) => metrics.service('BanksOwing', HIGHEST),
}

const QUARTER_HOUR = 900
/** Messages may wait for the work of this many others. */
const WORK_AHEAD = 8

/** Without them no debit is submitted, or no webhook sent, and no result shows it. */
const paging: readonly QueueName[] = [
  'submissions',
  'webhooks-high',
  'webhooks-medium',
  'webhooks-low',
]

/** Messages that fail are not counted: SQS leaves out those that were received three times. */
const lateRow = ({ name, workSeconds }: QueueRow): AlarmRow => ({
  name: lateAlarm(name),
  look: 'problems',
  ...(paging.includes(name) && { to: 'page' }),
  description: `Messages wait in ${name}: check its event source, then throttles and faults of its consumer`,
  metric: (metrics: Metrics) => metrics.queueAge(name, HIGHEST),
  threshold: Math.max(QUARTER_HOUR, WORK_AHEAD * workSeconds),
})

export type OutcomeSettings = StageBanks & Pick<Stage, 'payoutsWaitForFunding'>

export const lateAlarm = (queue: QueueName): string => `${queue.replace('.fifo', '')}-late`

/** Messages of a queue with a short retention expire instead; sweep-missing rings. */
const keepsMessages = ({ retentionSeconds }: QueueRow): boolean => retentionSeconds > QUARTER_HOUR

export const outcomeRows = (stage: OutcomeSettings): AlarmRow[] => [
  ...outcomes,
  ...reminders,
  ...(stage.payoutsWaitForFunding ? [remittanceRow] : []),
  ...queuesOf(stage).filter(keepsMessages).map(lateRow),
]
