import { Duration } from 'aws-cdk-lib'
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import { operations } from '../../shared/api/operations.ts'
import { METRICS_NAMESPACE, type MetricName, metricsService } from '../../shared/metrics.ts'
import { canaries, RECURSIVE } from './functions.ts'
import { jobsOf } from './jobs.ts'
import { resourceName, stageName } from './resource-name.ts'
import type { Stage } from './stages.ts'

/** A statistic and its period, five minutes by default. */
type Aggregation = { statistic: string; minutes?: number }

type LambdaMetric = 'IteratorAge' | 'Throttles' | 'Errors' | 'RecursiveInvocationsDropped'

export type Metrics = ReturnType<typeof metricsOf>

/** Returns the metrics of a stage by the names of its resources. */
export const metricsOf = (stage: Stage) => {
  const options = ({ statistic, minutes = 5 }: Aggregation) => ({
    statistic,
    period: Duration.minutes(minutes),
  })
  const metric = (
    namespace: string,
    metricName: string,
    dimensionsMap: Record<string, string>,
    over: Aggregation,
  ) => new cloudwatch.Metric({ namespace, metricName, dimensionsMap, ...options(over) })
  const lambda = (name: string, metricName: LambdaMetric, over: Aggregation) =>
    metric('AWS/Lambda', metricName, { FunctionName: resourceName(name, stage.name) }, over)
  const gateway = { ApiName: stageName(stage.name), Stage: stage.name }
  /** A queue, or a dead-letter queue. */
  const queue = (name: string, metricName: string, over: Aggregation) =>
    metric('AWS/SQS', metricName, { QueueName: resourceName(name, stage.name) }, over)
  // AWS may drop recursive invocations of the other functions.
  const loopChecked = jobsOf(stage).filter((name) => !RECURSIVE.has(name))
  return {
    lambda,
    service: (name: MetricName, over: Aggregation) =>
      metric(METRICS_NAMESPACE, name, { service: metricsService(stage.name) }, over),
    api: (name: '5XXError' | '4XXError' | 'Count', over: Aggregation) =>
      metric('AWS/ApiGateway', name, gateway, over),
    /** Milliseconds from the arrival of a charge at the gateway to the reply. */
    chargeLatency: (over: Aggregation) => {
      const { path: Resource, method: Method } = operations.charge
      return metric('AWS/ApiGateway', 'Latency', { ...gateway, Resource, Method }, over)
    },
    droppedInvocations: () =>
      sum(
        'Invocations dropped',
        loopChecked.map((name) =>
          lambda(name, 'RecursiveInvocationsDropped', { statistic: 'Sum' }),
        ),
      ),
    /** Errors of the functions that are deployed gradually. */
    crashes: () =>
      sum(
        'Crashes',
        canaries.map((name) => lambda(name, 'Errors', { statistic: 'Sum' })),
      ),
    queueCount: (name: string, over: Aggregation) =>
      queue(name, 'ApproximateNumberOfMessagesVisible', over),
    /** Age of the oldest message, in seconds. */
    queueAge: (name: string, over: Aggregation) =>
      queue(name, 'ApproximateAgeOfOldestMessage', over),
  }
}

const sum = (label: string, metrics: readonly cloudwatch.IMetric[]) =>
  new cloudwatch.MathExpression({
    label,
    expression: 'SUM(FILL(METRICS(), 0))',
    period: Duration.minutes(5),
    usingMetrics: Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric])),
  })
