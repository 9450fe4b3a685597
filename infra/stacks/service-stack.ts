import { Duration, Stack, type StackProps } from 'aws-cdk-lib'
import type { ITable, ITableV2 } from 'aws-cdk-lib/aws-dynamodb'
import * as awsLambda from 'aws-cdk-lib/aws-lambda'
import { DynamoEventSource, SqsDlq, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { type OperationName, operations } from '../../shared/api/operations.ts'
import { bundleFolder } from '../bundles/build.ts'
import { defineAlarms } from '../constructs/alarm-topic.ts'
import { defineApi, defineRoutes } from '../constructs/api.ts'
import { defineCustomDomain, ownHost } from '../constructs/custom-domain.ts'
import { defineDashboard } from '../constructs/dashboard.ts'
import { defineRole, type FunctionResources } from '../constructs/execution-role.ts'
import { defineInvocationTrail } from '../constructs/invocation-trail.ts'
import { defineLog } from '../constructs/log-group.ts'
import { defineSchedules } from '../constructs/schedules.ts'
import { defineLostRecords, defineQueues, queueNamed } from '../constructs/sqs-queues.ts'
import { defineWaf } from '../constructs/waf.ts'
import { alarmRows } from '../definitions/alarms.ts'
import { environmentOf } from '../definitions/environment.ts'
import { functionName } from '../definitions/function-name.ts'
import { type FunctionRow, functionsOf, UNMATCHED } from '../definitions/functions.ts'
import { deadLetters, jobRow, jobsOf, queuesOf } from '../definitions/jobs.ts'
import { metricsOf } from '../definitions/metrics.ts'
import type { Stage } from '../definitions/stages.ts'
import type { DataStack } from './data-stack.ts'

type Props = StackProps & { stage: Stage; data: DataStack }

/** Functions without AWS's loop detection, which would stop a delivery of up to eleven attempts. */
const RECURSIVE = new Set([
  'relay',
  'submit-to-bank',
  'deliver-webhook',
  'deliver-sidelined-webhook',
  'recover-deliveries',
])

/** Defines the replaceable resources: functions, queues, schedules, the API. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, { stage, data, ...props }: Props) {
    super(scope, id, props)
    const queues = defineQueues(this, queuesOf(stage))
    const schedules = defineSchedules(this, queues.work, stage)
    const api = defineApi(this, stage)
    const resources = { stage, data, queues: queues.work, schedules }
    const host = ownHost(this, stage.domain, api)
    const functions = new Map(
      functionsOf(stage).map((row) => [row.name, this.#defineFunction(row, host, resources)]),
    )
    const lostRecords = this.#defineEventSources(functions, resources)
    defineRoutes(api, functions)
    if (stage.hasFirewall) defineWaf(this, stage, api)
    if (stage.domain) defineCustomDomain(this, stage.domain, api)
    if (stage.recordsInvocations) defineInvocationTrail(this, stage.name, functions)
    const deadLetterQueues = new Map([
      ...[...queues.deadLetters].map(([name, queue]) => [deadLetters(name), queue] as const),
      ...lostRecords,
    ])
    const metrics = metricsOf({
      stage,
      api,
      functions,
      queues: queues.work,
      deadLetterQueues,
      loopChecked: jobsOf(stage).filter((name) => !RECURSIVE.has(name)),
    })
    defineAlarms(this, stage, alarmRows(deadLetterQueues.keys()), metrics)
    defineDashboard(this, stage, [...queues.work.keys()], metrics)
  }

  #defineFunction(row: FunctionRow, host: string, resources: FunctionResources) {
    const { stage, data, queues, schedules } = resources
    const logGroup = defineLog(this, `${row.name}-log`, stage)
    return new awsLambda.Function(this, row.name, {
      functionName: functionName(row.name, stage.name),
      code: this.#codeOf(row),
      handler: 'index.handler',
      runtime: awsLambda.Runtime.NODEJS_24_X,
      architecture: awsLambda.Architecture.ARM_64,
      timeout: Duration.seconds(row.timeoutSeconds),
      memorySize: row.memoryMegabytes,
      logGroup,
      role: defineRole(this, row, { ...resources, logGroup }),
      ...reservation(row, stage),
      ...(RECURSIVE.has(row.name) && { recursiveLoop: awsLambda.RecursiveLoop.ALLOW }),
      environment: environmentOf(
        row,
        { ...stage, stage: stage.name, ownHosts: [host] },
        {
          tableName: data.table.tableName,
          queueUrl: (name) => queueNamed(queues, name).queueUrl,
          queueArn: (name) => queueNamed(queues, name).queueArn,
          scheduleGroup: schedules.group.ref,
          scheduleRoleArn: schedules.role.roleArn,
          sealingKeyArn: data.sealingKey.secretArn,
          reportsBucket: data.reports.bucketName,
          functionPrefix: functionName('', stage.name),
        },
      ),
    })
  }

  /** Returns the bundle, or a placeholder when the app skips bundling, as in tests of templates. */
  #codeOf({ name }: FunctionRow): awsLambda.Code {
    return this.bundlingRequired
      ? awsLambda.Code.fromAsset(bundleFolder(name))
      : awsLambda.Code.fromInline('//')
  }

  /** @returns the on-failure queues of the stream's consumers, by name */
  #defineEventSources(
    functions: ReadonlyMap<string, awsLambda.IFunction>,
    { stage, queues, data }: FunctionResources,
  ): Map<string, Queue> {
    const lostRecords = new Map<string, Queue>()
    for (const name of jobsOf(stage)) {
      const lambda = functions.get(name)
      const { from } = jobRow(name)
      if ('stream' in from) {
        const lost = defineLostRecords(this, name)
        lostRecords.set(lost.node.id, lost)
        lambda?.addEventSource(streamSource(from, { table: data.table, lost, stage }))
        continue
      }
      const { batchSize, maxConcurrency } = from
      for (const queue of from.queues) {
        lambda?.addEventSource(
          new SqsEventSource(queueNamed(queues, queue), {
            batchSize,
            maxConcurrency: Math.min(maxConcurrency, stage.workersMax ?? maxConcurrency),
            reportBatchItemFailures: true,
            enabled: !stage.paused,
          }),
        )
      }
    }
    return lostRecords
  }
}

const streamSource = (
  { stream, batchSize }: { stream: readonly string[]; batchSize: number },
  { table, lost, stage }: { table: ITableV2; lost: Queue; stage: Stage },
): DynamoEventSource =>
  new DynamoEventSource(table as ITable, {
    // LATEST would miss records that are written before the mapping is active.
    startingPosition: awsLambda.StartingPosition.TRIM_HORIZON,
    batchSize,
    bisectBatchOnError: true,
    reportBatchItemFailures: true,
    retryAttempts: 10,
    // The stream keeps a record for 24 hours.
    maxRecordAge: Duration.hours(23),
    onFailure: new SqsDlq(lost),
    enabled: !stage.paused,
    filters: [
      awsLambda.FilterCriteria.filter({
        dynamodb: { NewImage: { entity: { S: awsLambda.FilterRule.or(...stream) } } },
      }),
    ],
  })

/** Returns the reserved concurrency of a function behind the gateway; it is also its maximum. */
const reservation = ({ name }: FunctionRow, { reserved }: Stage) => {
  const isBehindGateway = name === UNMATCHED || Object.hasOwn(operations, name)
  return reserved && isBehindGateway
    ? { reservedConcurrentExecutions: reserved[name as OperationName] ?? reserved.each }
    : {}
}
