import type { MetricName } from '../shared/metrics.ts'

/** What somebody should look at, beside dead letters: a figure, and from where on it is too much. */
export type AlarmRow = {
  name: string
  description: string
  metric: MetricName
  threshold: number
}

export const alarmRows: AlarmRow[] = [
  {
    // It is disabled after five days of failures alone; somebody should know before.
    name: 'webhook-failing',
    description: "Every attempt at a provider's webhook has failed for three days",
    metric: 'WebhookFailingDays',
    threshold: 3,
  },
  {
    name: 'late-completion',
    description: 'A bank has taken the money of a debit that had failed: operator exception list',
    metric: 'LateCompletion',
    threshold: 1,
  },
  {
    name: 'settlement-not-paid',
    description: 'A batch was due and could not be paid: operator settlement process says why',
    metric: 'SettlementNotPaid',
    threshold: 1,
  },
  {
    name: 'settlement-failed',
    description: 'A bank would not pay a batch: operator settlement retry pays it anew',
    metric: 'SettlementFailed',
    threshold: 1,
  },
  {
    name: 'reconciliation-differences',
    description: 'What stands in the table does not fit together: operator reconcile lists it',
    metric: 'ReconciliationDifferences',
    threshold: 1,
  },
]
