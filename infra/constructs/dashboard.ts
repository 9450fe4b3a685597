import { Duration, type Stack } from 'aws-cdk-lib'
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import type { MetricName } from '../../shared/metrics.ts'
import type { AlarmRow } from '../definitions/alarm-row.ts'
import { deadLetterQueues, queuesOf } from '../definitions/jobs.ts'
import { calculated, type Metrics } from '../definitions/metrics.ts'
import { stageName } from '../definitions/resource-name.ts'
import type { Stage } from '../definitions/stages.ts'
import type { ShownAlarms } from './alarm.ts'
import { objectiveWidgets } from './objective-widgets.ts'

type DashboardSources = {
  metrics: Metrics
  alarms: ShownAlarms
  /** The rows of all alarms, for the thresholds in graphs. */
  rows: readonly AlarmRow[]
  /** Name of relay's log group, which has a line of metrics for each change of a debit. */
  relayLog: string
}

export const defineDashboard = (stack: Stack, stage: Stage, sources: DashboardSources): void => {
  const { metrics, alarms, rows, relayLog } = sources
  const graph = graphWith(rows, metrics)
  const status = (title: string, shown: cloudwatch.IAlarm[], size = SIZE) =>
    new cloudwatch.AlarmStatusWidget({ ...size, title, alarms: shown })
  new cloudwatch.Dashboard(stack, 'Dashboard', {
    dashboardName: stageName(stage.name),
    defaultInterval: Duration.days(1),
    widgets: [
      [status('Pages', alarms.pages), new cloudwatch.TextWidget({ ...SIZE, markdown: RUNBOOK })],
      ...objectiveWidgets(metrics),
      ...debitWidgets(metrics, graph, relayLog),
      ...requestWidgets(stage, metrics, graph),
      ...queueWidgets(stage, metrics, graph),
      ...moneyWidgets(metrics, graph),
      [graph('Approval prompts', allCounted(metrics, 'PromptsRefused', 'PromptsUnchecked'))],
      [
        graph('Duration of webhook attempts (ms)', attemptDurations(metrics)),
        graph('Sweep', allCounted(metrics, 'SweepRepaired', 'SweepFaults'), [
          metrics.service('SweepLagSeconds', HIGHEST),
        ]),
      ],
      // A widget shows at most a hundred.
      [status('Other alarms', alarms.others, { width: 24, height: 12 })],
    ],
  })
}

const RUNBOOK = '### Runbook: docs/operations.md#when-an-alarm-rings'

type Graph = ReturnType<typeof graphWith>

const counted = (metrics: Metrics, name: MetricName) => metrics.service(name, COUNTED)
const daily = (metrics: Metrics, name: MetricName) => metrics.service(name, DAILY)
const allCounted = (metrics: Metrics, ...names: MetricName[]) =>
  names.map((name) => counted(metrics, name))

const debitWidgets = (metrics: Metrics, graph: Graph, relayLog: string) => {
  const completed = counted(metrics, 'DebitsCompleted')
  const failed = counted(metrics, 'DebitsFailed')
  const charged = counted(metrics, 'DebitsCharged')
  const reversed = counted(metrics, 'DebitsReversed')
  const completionRate = percent(
    'Completed of all final debits (%)',
    '100 * completed / (completed + failed)',
    { completed, failed },
  )
  return [
    [
      graph('Debits', [charged, completed, failed, reversed]),
      graph('Completion rate', [completionRate]),
    ],
    [
      table('Debits by bank', relayLog, [
        'filter ispresent(DebitsCompleted) or ispresent(DebitsFailed)',
        'stats sum(DebitsCompleted) as completed, sum(DebitsFailed) as failed by bank',
        'sort failed desc',
      ]),
      table('Failed debits by code', relayLog, [
        'filter ispresent(DebitsFailed)',
        'stats sum(DebitsFailed) as failed by code',
        'sort failed desc',
      ]),
    ],
  ]
}

const requestWidgets = (stage: Stage, metrics: Metrics, graph: Graph) => {
  const latencies = ['p50', 'p99'].map((statistic) => metrics.charges('Latency', { statistic }))
  const requests = metrics.api('Count', COUNTED)
  const errors = [metrics.api('4XXError', COUNTED), metrics.api('5XXError', COUNTED)]
  const bankErrors = allCounted(
    metrics,
    'BankCredentialsRefused',
    'BankRequestsLimited',
    'BankRequestsRefused',
  )
  return [
    [graph('Latency of charges (ms)', latencies), graph('Requests', [requests], errors)],
    [
      graph('4xx replies to banks', bankErrors),
      ...(stage.hasFirewall
        ? [graph('Requests blocked by the firewall', [metrics.blockedRequests(COUNTED)])]
        : []),
    ],
  ]
}

const queueWidgets = (stage: Stage, metrics: Metrics, graph: Graph) => {
  const delivered = counted(metrics, 'WebhookDelivered')
  const undelivered = counted(metrics, 'WebhookAttemptFailed')
  const webhooks = [delivered, undelivered, counted(metrics, 'WebhookAbandoned')]
  const deliveryRate = percent(
    'Successful attempts (%)',
    '100 * delivered / (delivered + failed)',
    { delivered, failed: undelivered },
  )
  const throttles = [
    metrics.tableThrottles('read'),
    metrics.tableThrottles('write'),
    metrics.account('Throttles', COUNTED),
    metrics.schedules('InvocationThrottleCount', COUNTED),
  ]
  const deadLetters = deadLetterQueues(stage).map((name) => metrics.queueCount(name, HIGHEST))
  const ages = queuesOf(stage).map(({ name }) => metrics.queueAge(name, HIGHEST))
  return [
    [
      graph('Age of the oldest message per queue (s)', ages, [
        metrics.lambda('relay', 'IteratorAge', HIGHEST),
      ]),
      graph('Dead letters per queue', deadLetters),
    ],
    [
      graph('Webhooks', webhooks, [deliveryRate]),
      graph('Throttles', throttles, [metrics.account('ConcurrentExecutions', HIGHEST)]),
    ],
  ]
}

const moneyWidgets = (metrics: Metrics, graph: Graph) => {
  const settled = new cloudwatch.SingleValueWidget({
    ...SIZE,
    title: 'Settled',
    metrics: [
      daily(metrics, 'SettledDebits'),
      cedis('Gross', daily(metrics, 'SettledGrossPesewas')),
      cedis('Fees', daily(metrics, 'SettledFeePesewas')),
      cedis('Net', daily(metrics, 'SettledNetPesewas')),
    ],
  })
  const volume = new cloudwatch.SingleValueWidget({
    ...SIZE,
    title: 'Volume',
    metrics: [
      cedis('Charged', daily(metrics, 'ChargedPesewas')),
      cedis('Completed', daily(metrics, 'CompletedPesewas')),
      cedis('Refunded', daily(metrics, 'RefundedPesewas')),
    ],
  })
  const nightly: MetricName[] = [
    'SettlementPaid',
    'SettlementFailed',
    'SettlementNotPaid',
    'SettlementUnfinished',
    'ReconciliationDifferences',
  ]
  const refunds = allCounted(metrics, 'RefundsCompleted', 'RefundFailed', 'ReversalRequested')
  return [
    [
      settled,
      graph(
        'Nightly settlement',
        nightly.map((name) => daily(metrics, name)),
      ),
    ],
    [volume, graph('Refunds', refunds)],
  ]
}

const COUNTED = { statistic: 'Sum' }
const HIGHEST = { statistic: 'Maximum' }
const DAILY = { statistic: 'Sum', minutes: 24 * 60 }
const SIZE = { width: 12, height: 6 }

const attemptDurations = (metrics: Metrics) =>
  ['p50', 'p99'].map((statistic) => metrics.service('WebhookAttemptMilliseconds', { statistic }))

const table = (title: string, log: string, queryLines: string[]) =>
  new cloudwatch.LogQueryWidget({ ...SIZE, title, logGroupNames: [log], queryLines })

/** Returns a function for widgets that show the thresholds of all alarms on their metrics. */
const graphWith =
  (rows: readonly AlarmRow[], metrics: Metrics) =>
  (title: string, left: cloudwatch.IMetric[], right: cloudwatch.IMetric[] = []) => {
    const thresholds = (series: cloudwatch.IMetric[]) => {
      const sources = new Set(series.map(sourceOf))
      const matches = rows.filter(
        ({ metric, below }) => !below && sources.has(sourceOf(metric(metrics))),
      )
      return [...Map.groupBy(matches, ({ threshold = 1 }) => threshold)].map(
        ([value, [first, ...others]]) => ({
          value,
          label: others.length > 0 ? `${others.length + 1} alarms` : (first?.name ?? ''),
        }),
      )
    }
    const leftAnnotations = thresholds(left)
    const shown = { ...SIZE, title, left, right, leftAnnotations }
    return new cloudwatch.GraphWidget({ ...shown, rightAnnotations: thresholds(right) })
  }

/** Returns the identity of a metric without its statistic. Labels identify expressions. */
const sourceOf = (metric: cloudwatch.IMetric): string => {
  const { metricStat, renderingProperties } = metric.toMetricConfig()
  if (!metricStat) return String(renderingProperties?.label)
  const { namespace, metricName, dimensions } = metricStat
  return JSON.stringify([namespace, metricName, dimensions])
}

const percent = (
  label: string,
  expression: string,
  usingMetrics: Record<string, cloudwatch.IMetric>,
) => calculated(label, expression, usingMetrics, 5)

const cedis = (label: string, pesewas: cloudwatch.IMetric) =>
  new cloudwatch.MathExpression({
    label: `${label} (GHS)`,
    expression: `of${label} / 100`,
    usingMetrics: { [`of${label}`]: pesewas },
    period: Duration.days(1),
  })
