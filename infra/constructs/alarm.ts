import { Aws, type Stack } from 'aws-cdk-lib'
import {
  Alarm,
  AlarmRule,
  ComparisonOperator,
  CompositeAlarm,
  type IAlarm,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IKey, Key } from 'aws-cdk-lib/aws-kms'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { type AlarmRow, causes } from '../definitions/alarm-row.ts'
import type { Metrics } from '../definitions/metrics.ts'
import { burnRows } from '../definitions/objectives.ts'
import { resourceName } from '../definitions/resource-name.ts'
import { rollbackAlarms } from '../definitions/rollback-alarms.ts'
import type { Stage } from '../definitions/stages.ts'

export const defineAlarms = (
  stack: Stack,
  stage: Stage,
  rows: readonly AlarmRow[],
  metrics: Metrics,
  key: Key,
): { composites: IAlarm[]; all: IAlarm[] } => {
  const topic = new Topic(stack, 'Alarms', {
    displayName: `Debit collection, ${stage.name}`,
    enforceSSL: true,
    // CloudWatch cannot use the key that AWS manages for SNS.
    masterKey: key as IKey,
  })
  // enforceSSL sets a policy, which replaces the default one that lets CloudWatch publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      actions: ['sns:Publish'],
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  )
  if (stage.alarmsTo) topic.addSubscription(new EmailSubscription(stage.alarmsTo))
  const action = new SnsAction(topic)
  const alarms = [
    ...rows.map((row) => ({ row, alarm: defineAlarm(stack, stage, row, metrics) })),
    // The API stack defines these alarms.
    ...rollbackAlarms.map((row) => {
      const name = resourceName(row.name, stage.name)
      return { row, alarm: Alarm.fromAlarmName(stack, row.name, name) as Alarm }
    }),
  ]
  const composites = Object.entries(causes).map(([cause, description]) => {
    const causeAlarms = alarms.flatMap(({ row, alarm }) => (row.cause === cause ? [alarm] : []))
    return new CompositeAlarm(stack, `${cause}-alarm`, {
      compositeAlarmName: resourceName(cause, stage.name),
      alarmDescription: description,
      alarmRule: AlarmRule.anyOf(...causeAlarms),
    })
  })
  for (const { name, description, spans } of burnRows) {
    const burning = spans.map((row) => defineAlarm(stack, stage, row, metrics))
    const burn = new CompositeAlarm(stack, `${name}-alarm`, {
      compositeAlarmName: resourceName(name, stage.name),
      alarmDescription: description,
      alarmRule: AlarmRule.allOf(...burning),
    })
    composites.push(burn)
  }
  const withoutCause = alarms.flatMap(({ row, alarm }) => (row.cause ? [] : [alarm]))
  for (const alarm of [...withoutCause, ...composites]) {
    alarm.addAlarmAction(action)
    alarm.addOkAction(action)
  }
  return { composites, all: alarms.map(({ alarm }) => alarm) }
}

export const defineAlarm = (stack: Stack, stage: Stage, row: AlarmRow, metrics: Metrics): Alarm =>
  new Alarm(stack, `${row.name}-alarm`, {
    alarmName: resourceName(row.name, stage.name),
    alarmDescription: row.description,
    metric: row.metric(metrics),
    threshold: row.threshold,
    evaluationPeriods: row.periods ?? 1,
    comparisonOperator: row.below
      ? ComparisonOperator.LESS_THAN_THRESHOLD
      : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: row.firesWithoutData
      ? TreatMissingData.BREACHING
      : TreatMissingData.NOT_BREACHING,
  })
