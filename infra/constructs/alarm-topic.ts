import { Aws, type Stack } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { AlarmRow } from '../definitions/alarms.ts'
import type { Metrics } from '../definitions/metrics.ts'
import type { Stage } from '../definitions/stages.ts'

export const defineAlarms = (
  stack: Stack,
  stage: Stage,
  rows: readonly AlarmRow[],
  metrics: Metrics,
): void => {
  const topic = new Topic(stack, 'Alarms', {
    displayName: `Debit collection, ${stage.name}`,
    enforceSSL: true,
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
  for (const row of rows) {
    const alarm = defineAlarm(stack, stage, row, metrics)
    alarm.addAlarmAction(action)
    alarm.addOkAction(action)
  }
}

const defineAlarm = (stack: Stack, stage: Stage, row: AlarmRow, metrics: Metrics): Alarm =>
  new Alarm(stack, `${row.name}-alarm`, {
    alarmName: `debit-collection-${stage.name}-${row.name}`,
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
    ...(row.ignoresFewSamples && { evaluateLowSampleCountPercentile: 'ignore' }),
  })
