import { Duration, type Stack } from 'aws-cdk-lib'
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import type { MetricName } from '../../shared/metrics.ts'
import { queuesOf } from '../definitions/jobs.ts'
import type { Metrics } from '../definitions/metrics.ts'
import { stageName } from '../definitions/resource-name.ts'
import type { Stage } from '../definitions/stages.ts'

export const defineDashboard = (stack: Stack, stage: Stage, metrics: Metrics): void => {
  const counted = (name: MetricName) => metrics.service(name, COUNTED)
  const daily = (name: MetricName) => metrics.service(name, DAILY)
  const [completed, failed] = [counted('DebitsCompleted'), counted('DebitsFailed')]
  const [delivered, undelivered] = [counted('WebhookDelivered'), counted('WebhookAttemptFailed')]
  const debits = [counted('DebitsCharged'), completed, failed, counted('DebitsReversed')]
  const completionRate = percent(
    'Completed of all final debits (%)',
    '100 * completed / (completed + failed)',
    { completed, failed },
  )
  const deliveryRate = percent(
    'Successful attempts (%)',
    '100 * delivered / (delivered + failed)',
    { delivered, failed: undelivered },
  )
  const latencies = ['p50', 'p99'].map((statistic) => metrics.chargeLatency({ statistic }))
  const requests = metrics.api('Count', COUNTED)
  const errors = [metrics.api('4XXError', COUNTED), metrics.api('5XXError', COUNTED)]
  const ages = queuesOf(stage).map(({ name }) => metrics.queueAge(name, HIGHEST))
  const nightly = [
    daily('SettlementPaid'),
    daily('SettlementFailed'),
    daily('SettlementNotPaid'),
    daily('SettlementUnfinished'),
    daily('ReconciliationDifferences'),
  ]
  const settled = new cloudwatch.SingleValueWidget({
    ...SIZE,
    title: 'Settled',
    metrics: [
      daily('SettledDebits'),
      cedis('Gross', daily('SettledGrossPesewas')),
      cedis('Fees', daily('SettledFeePesewas')),
      cedis('Net', daily('SettledNetPesewas')),
    ],
  })
  new cloudwatch.Dashboard(stack, 'Dashboard', {
    dashboardName: stageName(stage.name),
    defaultInterval: Duration.days(1),
    widgets: [
      [graph('Debits', debits), graph('Completion rate', [completionRate])],
      [graph('Latency of charges (ms)', latencies), graph('Requests', [requests], errors)],
      [
        graph('Age of the oldest message per queue (s)', ages, [
          metrics.lambda('relay', 'IteratorAge', HIGHEST),
        ]),
        graph('Webhooks', [delivered, undelivered, counted('WebhookAbandoned')], [deliveryRate]),
      ],
      [settled, graph('Nightly settlement', nightly)],
    ],
  })
}

const COUNTED = { statistic: 'Sum' }
const HIGHEST = { statistic: 'Maximum' }
const DAILY = { statistic: 'Sum', minutes: 24 * 60 }
const SIZE = { width: 12, height: 6 }

const graph = (title: string, left: cloudwatch.IMetric[], right: cloudwatch.IMetric[] = []) =>
  new cloudwatch.GraphWidget({ ...SIZE, title, left, right })

const percent = (
  label: string,
  expression: string,
  usingMetrics: Record<string, cloudwatch.IMetric>,
) => new cloudwatch.MathExpression({ label, expression, usingMetrics, period: Duration.minutes(5) })

const cedis = (label: string, pesewas: cloudwatch.IMetric) =>
  new cloudwatch.MathExpression({
    label: `${label} (GHS)`,
    expression: `of${label} / 100`,
    usingMetrics: { [`of${label}`]: pesewas },
    period: Duration.days(1),
  })
