import { Aws, type Stack } from 'aws-cdk-lib'
import { Rule } from 'aws-cdk-lib/aws-events'
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { type IKey, Key } from 'aws-cdk-lib/aws-kms'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription, UrlSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { resourceName, stageName } from '../definitions/resource-name.ts'
import { removalPolicyOf, type Stage } from '../definitions/stages.ts'

export type AlarmTopics = { pages: Topic; tickets: Topic }

/** Defines the topics of pages and tickets. */
export const defineAlarmTopics = (stack: Stack, stage: Stage): AlarmTopics => {
  const topicOf = alarmTopicsIn(stack, stage)
  return { pages: topicOf('Pages'), tickets: topicOf('Tickets') }
}

/** Returns a function that defines topics with one key, which is not the data's: alarms report its loss. */
export const alarmTopicsIn = (stack: Stack, stage: Stage) => {
  const cloudwatch = {
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
  }
  // Services cannot use the key that AWS manages for SNS.
  const key = new Key(stack, 'AlarmKey', {
    description: `Encrypts alarms, ${stage.name}`,
    enableKeyRotation: true,
    removalPolicy: removalPolicyOf(stage),
  })
  const actions = ['kms:Decrypt', 'kms:GenerateDataKey*']
  key.addToResourcePolicy(new PolicyStatement({ ...cloudwatch, actions, resources: ['*'] }))
  return (id: 'Pages' | 'Tickets'): Topic => {
    const address = stage.alarmsTo?.[id === 'Pages' ? 'pages' : 'tickets']
    const topic = new Topic(stack, id, {
      displayName: `Debit collection, ${stage.name}: ${id.toLowerCase()}`,
      enforceSSL: true,
      masterKey: key as IKey,
    })
    // enforceSSL sets a policy, which replaces the default one that lets CloudWatch publish.
    const resources = [topic.topicArn]
    topic.addToResourcePolicy(
      new PolicyStatement({ ...cloudwatch, actions: ['sns:Publish'], resources }),
    )
    if (address?.startsWith('https:')) topic.addSubscription(new UrlSubscription(address))
    else if (address) topic.addSubscription(new EmailSubscription(address))
    return topic
  }
}

/** Pages when somebody disables a key or schedules its deletion. CloudTrail must record such calls. */
export const defineKeyRule = (stack: Stack, stage: Stage, dataKey: IKey, pages: Topic): void => {
  new Rule(stack, 'KeyDisabled', {
    ruleName: resourceName('key-disabled', stage.name),
    description:
      'The data key was disabled or scheduled for deletion: enable it, cancel the deletion',
    eventPattern: {
      source: ['aws.kms'],
      detailType: ['AWS API Call via CloudTrail'],
      detail: {
        eventName: ['DisableKey', 'ScheduleKeyDeletion'],
        resources: { ARN: [dataKey.keyArn] },
      },
    },
    targets: [new SnsTopic(pages)],
  })
}

/** Tickets when a copy of a backup fails: no metric names the vault that it comes from. */
export const defineCopyRule = (stack: Stack, stage: Stage, tickets: Topic): void => {
  new Rule(stack, 'CopyFailed', {
    ruleName: resourceName('backup-copy-failed', stage.name),
    description: 'The copy of a backup failed: read its message in the console of AWS Backup',
    eventPattern: {
      source: ['aws.backup'],
      detailType: ['Copy Job State Change'],
      detail: {
        state: ['FAILED', 'ABORTED'],
        sourceBackupVaultArn: [{ suffix: `:${stageName(stage.name)}` }],
      },
    },
    targets: [new SnsTopic(tickets)],
  })
}
