import { Duration, Stack, type StackProps } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import type { ITable, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  Architecture,
  Code,
  FilterCriteria,
  FilterRule,
  type IFunction,
  Function as LambdaFunction,
  RecursiveLoop,
  Runtime,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda'
import { DynamoEventSource, SqsDlq, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { CfnSchedule, CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { METRICS_NAMESPACE, METRICS_SERVICE } from '../shared/metrics.ts'
import type { QueueName } from '../shared/queues/messages.ts'
import { alarmRows } from './alarms.ts'
import { defineApi } from './api.ts'
import { bundleFolder } from './bundles/build.ts'
import { functionName } from './commands/functions-client.ts'
import type { DataStack } from './data-stack.ts'
import { environmentOf } from './environment.ts'
import { type FunctionRow, functionRows } from './functions.ts'
import { jobNames, jobRow, recurring } from './jobs.ts'
import { deadLetters, queueRows } from './queues.ts'
import type { Stage } from './stages.ts'

type Props = StackProps & { stage: Stage; data: DataStack }

/** Functions whose chains of invocations are long on purpose: a delivery may take eleven attempts. */
const LONG_CHAINS = new Set([
  'relay',
  'submit-to-bank',
  'deliver-webhook',
  'deliver-sidelined-webhook',
  'recover-deliveries',
])

/** Everything that can be replaced: functions, queues, schedules, the API. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, { stage, data, ...props }: Props) {
    super(scope, id, props)
    const queues = this.#defineQueues()
    const schedules = this.#defineSchedules(queues)
    this.#alarmOnFigures()
    const functions = new Map(
      functionRows.map((row) => [
        row.name,
        this.#defineFunction(row, { stage, data, queues, schedules }),
      ]),
    )
    this.#feed(functions, queues, data.table)
    defineApi(this, stage, functions)
  }

  #defineQueues(): Map<QueueName, Queue> {
    return new Map(
      queueRows.map((row) => {
        const deadLetterQueue = new Queue(this, deadLetters(row.name), {
          retentionPeriod: Duration.seconds(row.deadLetterRetentionSeconds),
          enforceSSL: true,
        })
        this.#alarmOnDeadLetters(row.name, deadLetterQueue)
        const queue = new Queue(this, row.name, {
          visibilityTimeout: Duration.seconds(row.visibilitySeconds),
          retentionPeriod: Duration.seconds(row.retentionSeconds),
          deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount: row.maxReceiveCount },
          enforceSSL: true,
        })
        return [row.name, queue]
      }),
    )
  }

  #alarmOnDeadLetters(name: string, queue: Queue): void {
    new Alarm(this, `${name}-dead-letters-alarm`, {
      alarmDescription: `Messages of ${name} failed again and again`,
      metric: queue.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1) }),
      threshold: 0,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    })
  }

  #alarmOnFigures(): void {
    for (const { name, description, metric, threshold } of alarmRows) {
      new Alarm(this, `${name}-alarm`, {
        alarmDescription: description,
        metric: new Metric({
          namespace: METRICS_NAMESPACE,
          metricName: metric,
          dimensionsMap: { service: METRICS_SERVICE },
          statistic: 'Maximum',
          period: Duration.minutes(5),
        }),
        threshold,
        evaluationPeriods: 1,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      })
    }
  }

  #defineSchedules(queues: Map<QueueName, Queue>) {
    const group = new CfnScheduleGroup(this, 'Schedules')
    const role = new Role(this, 'ScheduleRole', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com'),
    })
    queues.get('expiries')?.grantSendMessages(role)
    for (const { name, queue, expression } of recurring) {
      const target = queueNamed(queues, queue)
      target.grantSendMessages(role)
      new CfnSchedule(this, `${name}-schedule`, {
        groupName: group.ref,
        scheduleExpression: expression,
        scheduleExpressionTimezone: 'UTC',
        flexibleTimeWindow: { mode: 'OFF' },
        target: { arn: target.queueArn, roleArn: role.roleArn, input: '{}' },
      })
    }
    return { group, role }
  }

  #defineFunction(row: FunctionRow, parts: Parts): LambdaFunction {
    const { stage, data, queues, schedules } = parts
    const lambda = new LambdaFunction(this, row.name, {
      functionName: functionName(row.name, stage.name),
      code: this.#codeOf(row),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: Duration.seconds(row.timeoutSeconds),
      memorySize: row.memoryMegabytes,
      logGroup: new LogGroup(this, `${row.name}-log`, { retention: RetentionDays.THREE_MONTHS }),
      ...(LONG_CHAINS.has(row.name) ? { recursiveLoop: RecursiveLoop.ALLOW } : {}),
      environment: environmentOf(
        row,
        { stage: stage.name, referencePrefix: stage.referencePrefix },
        {
          tableName: data.table.tableName,
          queueUrl: (name) => queueNamed(queues, name).queueUrl,
          queueArn: (name) => queueNamed(queues, name).queueArn,
          scheduleGroup: schedules.group.ref,
          scheduleRoleArn: schedules.role.roleArn,
          sealingKeyArn: data.sealingKey.secretArn,
          reportsBucket: data.reports.bucketName,
        },
      ),
    })
    if (row.usesTable) data.table.grantReadWriteData(lambda)
    if (row.usesSealingKey) data.sealingKey.grantRead(lambda)
    if (row.usesReports.includes('read')) data.reports.grantRead(lambda)
    if (row.usesReports.includes('write')) data.reports.grantPut(lambda)
    for (const name of row.sends) queueNamed(queues, name).grantSendMessages(lambda)
    if (row.schedulesInto) this.#allowSchedules(lambda, schedules)
    return lambda
  }

  /** Bundles are built before the stacks are; where templates alone are wanted, there are none. */
  #codeOf({ name }: FunctionRow): Code {
    return this.bundlingRequired ? Code.fromAsset(bundleFolder(name)) : Code.fromInline('//')
  }

  #allowSchedules(lambda: LambdaFunction, { group, role }: Parts['schedules']): void {
    lambda.addToRolePolicy(
      new PolicyStatement({
        actions: ['scheduler:CreateSchedule'],
        resources: [
          this.formatArn({
            service: 'scheduler',
            resource: 'schedule',
            resourceName: `${group.ref}/*`,
          }),
        ],
      }),
    )
    role.grantPassRole(lambda.grantPrincipal)
  }

  #feed(functions: Map<string, IFunction>, queues: Map<QueueName, Queue>, table: TableV2): void {
    for (const name of jobNames) {
      const lambda = functions.get(name)
      const { from } = jobRow(name)
      if ('stream' in from) {
        lambda?.addEventSource(this.#streamSource(name, from, table))
        continue
      }
      for (const queue of from.queues) {
        lambda?.addEventSource(
          new SqsEventSource(queueNamed(queues, queue), {
            batchSize: from.batchSize,
            maxConcurrency: from.maxConcurrency,
            reportBatchItemFailures: true,
          }),
        )
      }
    }
  }

  #streamSource(
    name: string,
    { stream, batchSize }: { stream: readonly string[]; batchSize: number },
    table: TableV2,
  ): DynamoEventSource {
    const lost = new Queue(this, `${name}-lost-records`, {
      retentionPeriod: Duration.days(14),
      enforceSSL: true,
    })
    this.#alarmOnDeadLetters(`${name}-lost-records`, lost)
    return new DynamoEventSource(table as ITable, {
      // LATEST would miss what is written while the mapping comes up.
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize,
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      retryAttempts: 10,
      // A record lives for a day; what fails for longer must be put aside before it is gone.
      maxRecordAge: Duration.hours(23),
      onFailure: new SqsDlq(lost),
      filters: [
        FilterCriteria.filter({
          dynamodb: { NewImage: { entity: { S: FilterRule.or(...stream) } } },
        }),
      ],
    })
  }
}

type Parts = {
  stage: Stage
  data: DataStack
  queues: Map<QueueName, Queue>
  schedules: { group: CfnScheduleGroup; role: Role }
}

const queueNamed = (queues: Map<QueueName, Queue>, name: QueueName): Queue => {
  const queue = queues.get(name)
  if (!queue) throw new Error(`No job consumes the queue ${name}`)
  return queue
}
