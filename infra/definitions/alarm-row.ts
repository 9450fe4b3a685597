import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Metrics } from './metrics.ts'

export type AlarmRow = {
  name: string
  /** The event, a colon, and the action of the operator. */
  description: string
  metric: (metrics: Metrics) => IMetric
  /** Fires at this value and above; with `below`, under it. */
  threshold: number
  below?: true
  /** Consecutive periods that must breach the threshold. */
  periods?: number
  firesWithoutData?: true
  /** The composite alarm that notifies; an alarm without a cause notifies itself. */
  cause?: AlarmCause
}

/** Composite alarms, which send one notification for all alarms with the same cause. */
export const causes = {
  'api-failing': 'Callers receive errors or slow replies: the alarms of the API say which',
  'capacity-reached': 'The service reaches a quota of AWS: its alarms say which',
  'schedules-failing':
    'Timeouts and recurring jobs start late or not at all: the alarms of Scheduler say why',
  'events-late': 'Events reach queues late or not at all: the alarms of relay and sweep say why',
  'bank-requests-failing': "A bank's requests are rejected: its alarms say with which status",
  'bank-exceptions': 'A bank and the service disagree about money: run operator exception list',
  'settlement-failing': 'A provider may be paid late: the alarms of settlement say why',
  'reconciliation-failing': 'The table was not verified or has differences: see operator reconcile',
} as const

export type AlarmCause = keyof typeof causes

export const COUNTED = { statistic: 'Sum', minutes: 5 }
export const HIGHEST = { statistic: 'Maximum', minutes: 5 }
