import { Duration, type Stack } from 'aws-cdk-lib'
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import type { MetricName } from '../../shared/metrics.ts'
import type { Metrics } from '../definitions/metrics.ts'
import type { Stage } from '../definitions/stages.ts'

export const defineDashboard = (
  stack: Stack,
  stage: Stage,
  queues: readonly string[],
  metrics: Metrics,
): void => {
  new cloudwatch.Dashboard(stack, 'Dashboard', {
    dashboardName: `debit-collection-${stage.name}`,
    defaultInterval: Duration.days(1),
    widgets: [
      debits(metrics),
      api(metrics),
      [...queueAges(queues, metrics), ...webhooks(metrics)],
      settlement(metrics),
    ],
  })
}

const COUNTED = { statistic: 'Sum' }
const DAILY = { statistic: 'Sum', minutes: 24 * 60 }

const graph = (
  title: string,
  left: cloudwatch.IMetric[],
  right: cloudwatch.IMetric[] = [],
): cloudwatch.GraphWidget =>
  new cloudwatch.GraphWidget({ title, left, right, width: 12, height: 6 })

const percent = (
  label: string,
  expression: string,
  usingMetrics: Record<string, cloudwatch.IMetric>,
) => new cloudwatch.MathExpression({ label, expression, usingMetrics, period: Duration.minutes(5) })

const cedis = (metrics: Metrics, label: string, name: MetricName): cloudwatch.MathExpression => {
  const pesewas = `of${label}`
  return new cloudwatch.MathExpression({
    label: `${label} (GHS)`,
    expression: `${pesewas} / 100`,
    usingMetrics: { [pesewas]: metrics.service(name, DAILY) },
    period: Duration.days(1),
  })
}

const debits = (metrics: Metrics): cloudwatch.IWidget[] => {
  const completed = metrics.service('DebitsCompleted', COUNTED)
  const failed = metrics.service('DebitsFailed', COUNTED)
  return [
    graph('Debits', [
      metrics.service('DebitsCharged', COUNTED),
      completed,
      failed,
      metrics.service('DebitsReversed', COUNTED),
    ]),
    graph('Completion rate', [
      percent('Completed of all final debits (%)', '100 * completed / (completed + failed)', {
        completed,
        failed,
      }),
    ]),
  ]
}

const api = (metrics: Metrics): cloudwatch.IWidget[] => [
  graph('Latency of charges (ms)', [
    metrics.chargeLatency({ statistic: 'p50' }),
    metrics.chargeLatency({ statistic: 'p99' }),
  ]),
  graph(
    'Requests',
    [metrics.api('Count', COUNTED)],
    [metrics.api('4XXError', COUNTED), metrics.api('5XXError', COUNTED)],
  ),
]

const queueAges = (queues: readonly string[], metrics: Metrics): cloudwatch.IWidget[] => [
  graph(
    'Age of the oldest message per queue (s)',
    queues.map((name) => metrics.queueAge(name, { statistic: 'Maximum' })),
    [metrics.lambda('relay', 'IteratorAge', { statistic: 'Maximum' })],
  ),
]

const webhooks = (metrics: Metrics): cloudwatch.IWidget[] => {
  const delivered = metrics.service('WebhookDelivered', COUNTED)
  const failed = metrics.service('WebhookAttemptFailed', COUNTED)
  return [
    graph(
      'Webhooks',
      [delivered, failed, metrics.service('WebhookAbandoned', COUNTED)],
      [
        percent('Successful attempts (%)', '100 * delivered / (delivered + failed)', {
          delivered,
          failed,
        }),
      ],
    ),
  ]
}

const settlement = (metrics: Metrics): cloudwatch.IWidget[] => [
  new cloudwatch.SingleValueWidget({
    title: 'Settled',
    width: 12,
    height: 6,
    metrics: [
      metrics.service('SettledDebits', DAILY),
      cedis(metrics, 'Gross', 'SettledGrossPesewas'),
      cedis(metrics, 'Fees', 'SettledFeePesewas'),
      cedis(metrics, 'Net', 'SettledNetPesewas'),
    ],
  }),
  graph('Nightly settlement', [
    metrics.service('SettlementPaid', DAILY),
    metrics.service('SettlementFailed', DAILY),
    metrics.service('SettlementNotPaid', DAILY),
    metrics.service('SettlementUnfinished', DAILY),
    metrics.service('ReconciliationDifferences', DAILY),
  ]),
]
