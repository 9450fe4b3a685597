import { Aws, Duration } from 'aws-cdk-lib'
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import { operations } from '../../shared/api/operations.ts'
import {
  METRICS_NAMESPACE,
  type MetricName,
  type MetricPerBank,
  metricsService,
} from '../../shared/metrics.ts'
import { canaries, RECURSIVE } from './functions.ts'
import { jobsOf } from './jobs.ts'
import { resourceName, stageName } from './resource-name.ts'
import type { Stage } from './stages.ts'
import { tableDefinition } from './table.ts'

/** A statistic and its period, five minutes by default. */
type Aggregation = { statistic: string; minutes?: number }

const COUNTED = { statistic: 'Sum' }

type LambdaMetric = 'IteratorAge' | 'Throttles' | 'Errors' | 'RecursiveInvocationsDropped'

export type Metrics = ReturnType<typeof metricsOf>

const throttleMetrics = { read: 'ReadThrottleEvents', write: 'WriteThrottleEvents' }

type SchedulerMetric =
  | 'InvocationDroppedCount'
  | 'InvocationThrottleCount'
  | 'InvocationsFailedToBeSentToDeadLetterCount'
  | 'TargetErrorCount'

/** The rule that replicates the reports to the passive Region. */
export const REPLICATION_RULE = 'passive-region'

type ReplicatedBuckets = { SourceBucket?: string; DestinationBucket?: string }

/** Returns the metrics of a stage by the names of its resources; AWS names table and buckets. */
export const metricsOf = (stage: Stage, tableName: string, buckets: ReplicatedBuckets = {}) => {
  const lambda = (name: string, metricName: LambdaMetric, over: Aggregation) =>
    metric('AWS/Lambda', metricName, { FunctionName: resourceName(name, stage.name) }, over)
  const gateway = { ApiName: stageName(stage.name), Stage: stage.name }
  /** A queue, or a dead-letter queue. */
  const queue = (name: string, metricName: string, over: Aggregation) =>
    metric('AWS/SQS', metricName, { QueueName: resourceName(name, stage.name) }, over)
  // AWS may drop recursive invocations of the other functions.
  const loopCheckedJobs = jobsOf(stage).filter((name) => !RECURSIVE.has(name))
  return {
    lambda,
    service: (name: MetricName, over: Aggregation) =>
      metric(METRICS_NAMESPACE, name, { service: metricsService(stage.name) }, over),
    perBank: (name: MetricPerBank, over: Required<Aggregation>) =>
      seriesPerBank(name, metricsService(stage.name), over),
    api: (name: '5XXError' | '4XXError' | 'Count', over: Aggregation) =>
      metric('AWS/ApiGateway', name, gateway, over),
    /** Requests to charge; `Latency`: milliseconds from the arrival at the gateway to the reply. */
    charges: (name: 'Latency' | '4XXError' | '5XXError' | 'Count', over: Aggregation) => {
      const { path: Resource, method: Method } = operations.charge
      return metric('AWS/ApiGateway', name, { ...gateway, Resource, Method }, over)
    },
    /** All functions of the account and Region, including those of other applications. */
    account: (metricName: 'ConcurrentExecutions' | 'Throttles', over: Aggregation) =>
      metric('AWS/Lambda', metricName, {}, over),
    /** Throttled requests to the table and its indexes. */
    tableThrottles: (access: 'read' | 'write') =>
      sum(
        `${access}Throttles`,
        [
          {},
          ...tableDefinition.indexes.map(({ name }) => ({ GlobalSecondaryIndexName: name })),
        ].map((index) =>
          metric(
            'AWS/DynamoDB',
            throttleMetrics[access],
            { TableName: tableName, ...index },
            COUNTED,
          ),
        ),
      ),
    schedules: (metricName: SchedulerMetric, over: Aggregation) =>
      metric('AWS/Scheduler', metricName, { ScheduleGroup: stageName(stage.name) }, over),
    /** Requests that any rule of the firewall blocked. */
    blockedRequests: (over: Aggregation) => {
      const acl = { WebACL: stageName(stage.name), Region: Aws.REGION, Rule: 'ALL' }
      return metric('AWS/WAFV2', 'BlockedRequests', acl, over)
    },
    ...backupMetrics(stage),
    ...otherRegionMetrics(stage, tableName),
    /** Objects that S3 could not replicate, and does not retry. */
    failedReplications: (over: Aggregation) =>
      metric(
        'AWS/S3',
        'OperationsFailedReplication',
        { ...buckets, RuleId: REPLICATION_RULE },
        over,
      ),
    certificateDays: (CertificateArn: string, over: Aggregation) =>
      metric('AWS/CertificateManager', 'DaysToExpiry', { CertificateArn }, over),
    droppedInvocations: () =>
      sum(
        'droppedInvocations',
        loopCheckedJobs.map((name) => lambda(name, 'RecursiveInvocationsDropped', COUNTED)),
      ),
    /** Errors of the functions that are deployed gradually. */
    crashes: () =>
      sum(
        'crashes',
        canaries.map((name) => lambda(name, 'Errors', COUNTED)),
      ),
    queueCount: (name: string, over: Aggregation) =>
      queue(name, 'ApproximateNumberOfMessagesVisible', over),
    /** Age of the oldest message, in seconds. */
    queueAge: (name: string, over: Aggregation) =>
      queue(name, 'ApproximateAgeOfOldestMessage', over),
  }
}

const exportArn = ({ name }: Stage): string =>
  `arn:${Aws.PARTITION}:states:${Aws.REGION}:${Aws.ACCOUNT_ID}:stateMachine:${resourceName('export', name)}`

const otherRegionMetrics = ({ name }: Stage, TableName: string) => ({
  /** Milliseconds from a write to its appearance in a replica. */
  replication: (ReceivingRegion: string, over: Aggregation) =>
    metric('AWS/DynamoDB', 'ReplicationLatency', { TableName, ReceivingRegion }, over),
  /** Successful runs of the probe, in its own Region. */
  probes: () =>
    metric(
      METRICS_NAMESPACE,
      'ProbeSucceeded',
      { service: metricsService(name) },
      { ...COUNTED, minutes: 1 },
    ),
})

const backupMetrics = (stage: Stage) => {
  const backups = (metricName: string, over: Aggregation) =>
    metric('AWS/Backup', metricName, { BackupVaultName: stageName(stage.name) }, over)
  const failed = () => {
    const ends = ['Failed', 'Expired', 'Aborted'].map((end) => `NumberOfBackupJobs${end}`)
    return sum(
      'failedBackups',
      ends.map((name) => backups(name, COUNTED)),
    )
  }
  /** Nightly exports of the table that have ended well. */
  const exports = (over: Aggregation) =>
    metric('AWS/States', 'ExecutionsSucceeded', { StateMachineArn: exportArn(stage) }, over)
  return { backups, failedBackups: failed, exports }
}

const metric = (
  namespace: string,
  metricName: string,
  dimensionsMap: Record<string, string>,
  { statistic, minutes = 5 }: Aggregation,
) =>
  new cloudwatch.Metric({
    namespace,
    metricName,
    dimensionsMap,
    statistic,
    period: Duration.minutes(minutes),
  })

/** Returns a metric with the dimension `bank`: a series, and a mail of its alarm, per bank. */
const seriesPerBank = (
  name: MetricPerBank,
  service: string,
  { statistic, minutes }: Required<Aggregation>,
) => {
  const select = statistic === 'Sum' ? 'SUM' : 'MAX'
  return new cloudwatch.MathExpression({
    expression:
      `SELECT ${select}(${name}) FROM SCHEMA("${METRICS_NAMESPACE}", bank, service) ` +
      `WHERE service = '${service}' GROUP BY bank ORDER BY ${select}() DESC`,
    period: Duration.minutes(minutes),
    label: name,
  })
}

/** Returns the value of an expression with the names of its metrics. */
export const calculated = (
  label: string,
  expression: string,
  usingMetrics: Record<string, cloudwatch.IMetric>,
  minutes: number,
) =>
  new cloudwatch.MathExpression({
    ...{ label, expression, usingMetrics },
    period: Duration.minutes(minutes),
  })

/** CloudWatch's limit for the expression of an alarm. */
const SUM_MAX = 10

/** Returns a sum whose metrics have ids with the prefix, because a graph may have several sums. */
const sum = (prefix: string, metrics: readonly cloudwatch.IMetric[]) => {
  if (metrics.length > SUM_MAX)
    throw new Error(
      `${prefix} sums ${metrics.length} metrics: an alarm takes ${SUM_MAX}, so split it`,
    )
  return new cloudwatch.MathExpression({
    label: prefix,
    expression: `SUM(FILL(METRICS("${prefix}"), 0))`,
    period: Duration.minutes(5),
    usingMetrics: Object.fromEntries(metrics.map((metric, index) => [`${prefix}${index}`, metric])),
  })
}
