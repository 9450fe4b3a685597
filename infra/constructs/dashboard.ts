import { Duration, type Stack } from 'aws-cdk-lib'
import {
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  SingleValueWidget,
} from 'aws-cdk-lib/aws-cloudwatch'
import type { MetricName } from '../../shared/metrics.ts'
import type { Metrics } from '../definitions/metrics.ts'
import type { Stage } from '../definitions/stages.ts'

/** Defines the dashboard: debits, API, queues, webhooks, settlement. */
export const defineDashboard = (
  stack: Stack,
  stage: Stage,
  queues: readonly string[],
  figures: Metrics,
): void => {
  new Dashboard(stack, 'Dashboard', {
    dashboardName: `debit-collection-${stage.name}`,
    defaultInterval: Duration.days(1),
    widgets: [
      debits(figures),
      api(figures),
      [...waiting(queues, figures), ...webhooks(figures)],
      settlement(figures),
    ],
  })
}

const COUNTED = { statistic: 'Sum' }
const DAILY = { statistic: 'Sum', minutes: 24 * 60 }

const graph = (title: string, left: IMetric[], right: IMetric[] = []): GraphWidget =>
  new GraphWidget({ title, left, right, width: 12, height: 6 })

const percent = (label: string, expression: string, usingMetrics: Record<string, IMetric>) =>
  new MathExpression({ label, expression, usingMetrics, period: Duration.minutes(5) })

/** Converts a metric in pesewas to cedis. */
const cedis = (figures: Metrics, label: string, name: MetricName): MathExpression => {
  const pesewas = `of${label}`
  return new MathExpression({
    label: `${label} (GHS)`,
    expression: `${pesewas} / 100`,
    usingMetrics: { [pesewas]: figures.own(name, DAILY) },
    period: Duration.days(1),
  })
}

const debits = (figures: Metrics): IWidget[] => {
  const completed = figures.own('DebitsCompleted', COUNTED)
  const failed = figures.own('DebitsFailed', COUNTED)
  return [
    graph('Debits', [
      figures.own('DebitsCharged', COUNTED),
      completed,
      failed,
      figures.own('DebitsReversed', COUNTED),
    ]),
    graph('Completion rate', [
      percent('Completed of all final debits (%)', '100 * completed / (completed + failed)', {
        completed,
        failed,
      }),
    ]),
  ]
}

const api = (figures: Metrics): IWidget[] => [
  graph('Latency of charges (ms)', [
    figures.chargeLatency({ statistic: 'p50' }),
    figures.chargeLatency({ statistic: 'p99' }),
  ]),
  graph(
    'Requests',
    [figures.api('Count', COUNTED)],
    [figures.api('4XXError', COUNTED), figures.api('5XXError', COUNTED)],
  ),
]

const waiting = (queues: readonly string[], figures: Metrics): IWidget[] => [
  graph(
    'Age of the oldest message per queue (s)',
    queues.map((name) => figures.age(name, { statistic: 'Maximum' })),
    [figures.ofFunction('relay', 'IteratorAge', { statistic: 'Maximum' })],
  ),
]

const webhooks = (figures: Metrics): IWidget[] => {
  const delivered = figures.own('WebhookDelivered', COUNTED)
  const failed = figures.own('WebhookAttemptFailed', COUNTED)
  return [
    graph(
      'Webhooks',
      [delivered, failed, figures.own('WebhookAbandoned', COUNTED)],
      [
        percent('Successful attempts (%)', '100 * delivered / (delivered + failed)', {
          delivered,
          failed,
        }),
      ],
    ),
  ]
}

const settlement = (figures: Metrics): IWidget[] => [
  new SingleValueWidget({
    title: 'Settled',
    width: 12,
    height: 6,
    metrics: [
      figures.own('SettledDebits', DAILY),
      cedis(figures, 'Gross', 'SettledGrossPesewas'),
      cedis(figures, 'Fees', 'SettledFeePesewas'),
      cedis(figures, 'Net', 'SettledNetPesewas'),
    ],
  }),
  graph('Nightly settlement', [
    figures.own('SettlementPaid', DAILY),
    figures.own('SettlementFailed', DAILY),
    figures.own('SettlementNotPaid', DAILY),
    figures.own('SettlementUnfinished', DAILY),
    figures.own('ReconciliationDifferences', DAILY),
  ]),
]
