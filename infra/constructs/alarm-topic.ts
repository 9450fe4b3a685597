import { Aws, type Stack } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { AlarmRow } from '../definitions/alarms.ts'
import type { Metrics } from '../definitions/metrics.ts'
import type { Stage } from '../definitions/stages.ts'

/** One topic for all alarms, mailed to where the stage says, if it does; and the alarms. */
export const defineAlarmTopic = (
  stack: Stack,
  stage: Stage,
  rows: readonly AlarmRow[],
  figures: Metrics,
): void => {
  const topic = new Topic(stack, 'Alarms', {
    displayName: `Debit collection, ${stage.name}`,
    enforceSSL: true,
  })
  // A topic with a policy of its own has no longer the one that lets alarms in.
  topic.addToResourcePolicy(
    new PolicyStatement({
      actions: ['sns:Publish'],
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  )
  if (stage.alarmsTo) topic.addSubscription(new EmailSubscription(stage.alarmsTo))
  const told = new SnsAction(topic)
  for (const row of rows) {
    const alarm = defineAlarm(stack, stage, row, figures)
    alarm.addAlarmAction(told)
    alarm.addOkAction(told)
  }
}

const defineAlarm = (stack: Stack, stage: Stage, row: AlarmRow, figures: Metrics): Alarm =>
  new Alarm(stack, `${row.name}-alarm`, {
    alarmName: `debit-collection-${stage.name}-${row.name}`,
    alarmDescription: row.description,
    metric: row.figure(figures),
    threshold: row.threshold,
    evaluationPeriods: row.times ?? 1,
    comparisonOperator: row.below
      ? ComparisonOperator.LESS_THAN_THRESHOLD
      : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: row.silence ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    ...(row.needsMany ? { evaluateLowSampleCountPercentile: 'ignore' } : {}),
  })
