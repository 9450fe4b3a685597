import { Duration } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import {
  type IMetric,
  MathExpression,
  Metric,
  type MetricOptions,
} from 'aws-cdk-lib/aws-cloudwatch'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { operations } from '../../shared/api/operations.ts'
import { METRICS_NAMESPACE, type MetricName, metricsService } from '../../shared/metrics.ts'
import type { Stage } from './stages.ts'

/** What is deployed, as far as figures of it are asked for. */
export type Deployed = {
  stage: Stage
  api: RestApi
  functions: ReadonlyMap<string, IFunction>
  /** The queues of work, and those of what failed again and again. */
  work: ReadonlyMap<string, Queue>
  dead: ReadonlyMap<string, Queue>
  /** Functions whose chains of invocations AWS may break off. */
  mayBeDropped: readonly string[]
}

type Over = { statistic: string; minutes?: number }

/** Where each figure comes from, for alarms and for the dashboard. */
export type Metrics = ReturnType<typeof metricsOf>

export const metricsOf = (deployed: Deployed) => {
  const { stage, api, functions, work, dead, mayBeDropped } = deployed
  const over = ({ statistic, minutes = 5 }: Over): MetricOptions => ({
    statistic,
    period: Duration.minutes(minutes),
  })
  const metric = (
    namespace: string,
    metricName: string,
    dimensionsMap: Record<string, string>,
    how: Over,
  ): Metric => new Metric({ namespace, metricName, dimensionsMap, ...over(how) })
  const gateway = { ApiName: api.restApiName, Stage: stage.name }
  return {
    /** One that the service counts itself. */
    own: (name: MetricName, how: Over): Metric =>
      metric(METRICS_NAMESPACE, name, { service: metricsService(stage.name) }, how),
    api: (name: '5XXError' | '4XXError' | 'Count', how: Over): Metric =>
      metric('AWS/ApiGateway', name, gateway, how),
    /** From the request's arrival at the gateway to the reply. */
    chargeLatency: (how: Over): Metric => {
      const { path, method } = operations.charge
      const charge = { ...gateway, Resource: path, Method: method }
      return metric('AWS/ApiGateway', 'Latency', charge, how)
    },
    ofFunction: (name: string, figure: 'IteratorAge' | 'Throttles' | 'Errors', how: Over): Metric =>
      metric('AWS/Lambda', figure, { FunctionName: named(functions, name).functionName }, how),
    /** Invocations that AWS has dropped because their chain was too long, of all that may not be. */
    dropped: (): IMetric =>
      new MathExpression({
        expression: 'SUM(FILL(METRICS(), 0))',
        label: 'Invocations dropped',
        period: Duration.minutes(5),
        usingMetrics: Object.fromEntries(
          mayBeDropped.map((name, n) => [
            `m${n}`,
            metric(
              'AWS/Lambda',
              'RecursiveInvocationsDropped',
              { FunctionName: named(functions, name).functionName },
              { statistic: 'Sum' },
            ),
          ]),
        ),
      }),
    /** Messages among dead letters, or seconds that the oldest of them has been there. */
    deadLetters: (name: string, how: Over): Metric =>
      named(dead, name).metricApproximateNumberOfMessagesVisible(over(how)),
    deadFor: (name: string, how: Over): Metric =>
      named(dead, name).metricApproximateAgeOfOldestMessage(over(how)),
    /** Seconds that the oldest message of a queue has waited. */
    age: (name: string, how: Over): Metric =>
      named(work, name).metricApproximateAgeOfOldestMessage(over(how)),
  }
}

const named = <T>(things: ReadonlyMap<string, T>, name: string): T => {
  const thing = things.get(name)
  if (!thing) throw new Error(`Unknown name ${name}`)
  return thing
}
