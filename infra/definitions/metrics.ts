import { Duration } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { operations } from '../../shared/api/operations.ts'
import { METRICS_NAMESPACE, type MetricName, metricsService } from '../../shared/metrics.ts'
import type { Stage } from './stages.ts'

type MetricSources = {
  stage: Stage
  api: RestApi
  functions: ReadonlyMap<string, IFunction>
  queues: ReadonlyMap<string, Queue>
  deadLetterQueues: ReadonlyMap<string, Queue>
  /** Functions whose recursive invocations AWS may drop. */
  loopChecked: readonly string[]
}

/** A statistic and its period, five minutes by default. */
type Aggregation = { statistic: string; minutes?: number }

type LambdaMetric = 'IteratorAge' | 'Throttles' | 'Errors' | 'RecursiveInvocationsDropped'

export type Metrics = ReturnType<typeof metricsOf>

export const metricsOf = (sources: MetricSources) => {
  const { stage, api, functions, queues, deadLetterQueues, loopChecked } = sources
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
    metric('AWS/Lambda', metricName, { FunctionName: get(functions, name).functionName }, over)
  const gateway = { ApiName: api.restApiName, Stage: stage.name }
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
      new cloudwatch.MathExpression({
        expression: 'SUM(FILL(METRICS(), 0))',
        label: 'Invocations dropped',
        period: Duration.minutes(5),
        usingMetrics: Object.fromEntries(
          loopChecked.map((name, index) => [
            `m${index}`,
            lambda(name, 'RecursiveInvocationsDropped', { statistic: 'Sum' }),
          ]),
        ),
      }),
    deadLetterCount: (name: string, over: Aggregation) =>
      get(deadLetterQueues, name).metricApproximateNumberOfMessagesVisible(options(over)),
    /** Age of the oldest message, in seconds. */
    deadLetterAge: (name: string, over: Aggregation) =>
      get(deadLetterQueues, name).metricApproximateAgeOfOldestMessage(options(over)),
    queueAge: (name: string, over: Aggregation) =>
      get(queues, name).metricApproximateAgeOfOldestMessage(options(over)),
  }
}

const get = <T>(resources: ReadonlyMap<string, T>, name: string): T => {
  const resource = resources.get(name)
  if (!resource) throw new Error(`Unknown name ${name}`)
  return resource
}
