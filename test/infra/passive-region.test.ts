import { Match, Template } from 'aws-cdk-lib/assertions'
import { expect, test } from 'vitest'
import { completeStage, replicatedStage } from '../../infra/definitions/complete-stage.ts'
import {
  InvalidStage,
  type PassiveRegion,
  type Stage,
  stageIn,
} from '../../infra/definitions/stages.ts'
import { defineData } from '../../infra/stacks/stage-stacks.ts'
import {
  propertiesOf,
  type TemplateNode,
  templatesOf,
  unvalidatedApp,
} from '../support/templates.ts'

const passive = replicatedStage.passive as PassiveRegion
const region = passive.region
const replica = passive.replica as NonNullable<PassiveRegion['replica']>
const active = templatesOf(stageIn(replicatedStage, {}))
const restoredTable = { name: 'restored', streamLabel: '2026-11-28T10:00:00.000' }
const waiting = templatesOf(stageIn({ ...replicatedStage, restoredTable }, { passive: 'true' }))
const afterFailover: Stage = { ...replicatedStage, passive: { ...passive, isActive: true } }
const failedOver = templatesOf(stageIn(afterFailover, { passive: 'true' }))
const left = templatesOf(stageIn(afterFailover, {}))

const ALIAS = 'alias/debit-collection-complete-passive'
const BUCKET = `debits-complete-reports-111111111111-${region}`

test('the active Region replicates table, reports and sealing key, each with a key of the passive one', () => {
  expect(active.findings()).toEqual([])
  const [table] = propertiesOf(active.data, 'AWS::DynamoDB::GlobalTable')
  const keys = table?.Replicas.map((one: { Region: string; SSESpecification: object }) => [
    one.Region,
    one.SSESpecification,
  ])
  expect(keys).toEqual([
    [region, { KMSMasterKeyId: ALIAS }],
    ['af-south-1', { KMSMasterKeyId: { 'Fn::GetAtt': [expect.stringMatching(/^Key/), 'Arn'] } }],
  ])
  for (const one of table?.Replicas ?? [])
    expect(one).toMatchObject({
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    })
  active.data.hasResourceProperties('AWS::SecretsManager::Secret', {
    ReplicaRegions: [{ Region: region }],
  })
  active.data.hasResourceProperties('AWS::S3::Bucket', {
    ReplicationConfiguration: {
      Rules: [
        Match.objectLike({
          Status: 'Enabled',
          SourceSelectionCriteria: { SseKmsEncryptedObjects: { Status: 'Enabled' } },
          Destination: {
            Bucket: `arn:aws:s3:::${BUCKET}`,
            Metrics: { Status: 'Enabled' },
            EncryptionConfiguration: {
              ReplicaKmsKeyID: `arn:aws:kms:${region}:111111111111:${ALIAS}`,
            },
          },
        }),
      ],
    },
  })
})

test('the alarm on reports that are not replicated has the buckets and the rule of the replication', () => {
  const [rule] = propertiesOf(active.data, 'AWS::S3::Bucket').flatMap(
    ({ ReplicationConfiguration }) => ReplicationConfiguration?.Rules ?? [],
  )
  const [alarm] = propertiesOf(active.all, 'AWS::CloudWatch::Alarm').filter(
    ({ MetricName }) => MetricName === 'OperationsFailedReplication',
  )
  expect(alarm?.Dimensions).toEqual([
    { Name: 'DestinationBucket', Value: BUCKET },
    { Name: 'RuleId', Value: rule.Id },
    { Name: 'SourceBucket', Value: { 'Fn::ImportValue': expect.stringContaining('RefReports') } },
  ])
})

test('the passive Region has a key, the bucket of the replica and its own audit, and no table or secret', () => {
  expect(waiting.findings()).toEqual([])
  waiting.data.hasResourceProperties('AWS::KMS::Alias', { AliasName: ALIAS })
  waiting.data.hasResourceProperties('AWS::S3::Bucket', {
    BucketName: BUCKET,
    VersioningConfiguration: { Status: 'Enabled' },
  })
  waiting.data.resourceCountIs('AWS::DynamoDB::GlobalTable', 0)
  waiting.data.resourceCountIs('AWS::SecretsManager::Secret', 0)
  const regions = Object.values(waiting.stacks).map((stack) => stack.region)
  expect(new Set(regions)).toEqual(new Set([region]))
})

test('the erasures outlive any backup in both Regions, of which one has backups', () => {
  for (const [{ all, data }, vaults] of [
    [active, 1],
    [waiting, 0],
    [failedOver, 0],
  ] as const) {
    const rules = propertiesOf(data, 'AWS::S3::Bucket').flatMap(
      ({ LifecycleConfiguration }) => LifecycleConfiguration.Rules,
    )
    expect(rules).toContainEqual(
      expect.objectContaining({ Prefix: 'erasures/', ExpirationInDays: 401 }),
    )
    all.resourceCountIs('AWS::Backup::BackupVault', vaults)
  }
})

test('the functions of the passive Region use the replicas, also after a restore of the other Region', () => {
  const variables = propertiesOf(waiting.all, 'AWS::Lambda::Function')
    .map(({ Environment }) => Environment?.Variables ?? {})
    .filter(({ TABLE_NAME }) => TABLE_NAME)
  expect(new Set(variables.map(({ TABLE_NAME }) => TABLE_NAME))).toEqual(
    new Set([replica.table.name]),
  )
  const keys = variables.flatMap(({ SEALING_KEY_ARN }) => SEALING_KEY_ARN ?? [])
  expect(new Set(keys)).toEqual(new Set([replica.sealingKeyArn]))
  const stream = `:table/${replica.table.name}/stream/${replica.table.streamLabel}`
  expect(JSON.stringify(waiting.all.toJSON())).toContain(stream)
})

const isOfStream = ({ StartingPosition }: TemplateNode) => StartingPosition !== undefined

/** No item has this entity. */
const NOTHING = '{"dynamodb":{"NewImage":{"entity":{"S":["none"]}}}}'

const useOfStream = ({ Enabled, FilterCriteria }: TemplateNode) => {
  if (!Enabled) return 'not read'
  const patterns = FilterCriteria.Filters.map(({ Pattern }: TemplateNode) => Pattern)
  return patterns.includes(NOTHING) ? 'read' : 'relayed'
}

/** Returns whether queues, stream, schedules and the gateway of a Region work. */
const activityOf = ({ all }: typeof active) => {
  const mappings = propertiesOf(all, 'AWS::Lambda::EventSourceMapping')
  return {
    queues: new Set(mappings.filter((one) => !isOfStream(one)).map(({ Enabled }) => Enabled)),
    stream: mappings.filter(isOfStream).map(useOfStream),
    schedules: new Set(propertiesOf(all, 'AWS::Scheduler::Schedule').map(({ State }) => State)),
    gateway: propertiesOf(all, 'AWS::ApiGateway::RestApi')[0]?.Policy.Statement[0].Effect,
  }
}

test('the passive Region waits until a failover, and then the other one waits; a waiting Region reads the stream', () => {
  const waits = {
    ...{ queues: new Set([false]), schedules: new Set(['DISABLED']), gateway: 'Deny' },
    stream: ['read'],
  }
  expect(activityOf(waiting)).toEqual(waits)
  expect(activityOf(left)).toEqual(waits)
  const works = {
    ...{ queues: new Set([true]), schedules: new Set(['ENABLED']), gateway: 'Allow' },
    stream: ['relayed'],
  }
  expect(activityOf(failedOver)).toEqual(works)
  expect(activityOf(active)).toEqual(works)
})

test('a Region has its subscriptions while it waits, and alarms on missing work only from the failover on', () => {
  const notifiedBy = ({ all, findings }: typeof active) => ({
    findings: findings(),
    subscriptions: propertiesOf(all, 'AWS::SNS::Subscription').length,
    hasAlarms: propertiesOf(all, 'AWS::CloudWatch::Alarm').some(
      ({ TreatMissingData }) => TreatMissingData === 'breaching',
    ),
  })
  for (const [region, hasAlarms] of [
    [waiting, false],
    [left, false],
    [failedOver, true],
    [active, true],
  ] as const)
    expect(notifiedBy(region)).toEqual({ findings: [], subscriptions: 2, hasAlarms })
})

test('a Region that begins to wait keeps each export, which stacks import until their update', () => {
  const exportsOf = ({ templates }: typeof active) =>
    templates.map((template) => Object.keys(template.findOutputs('*')))
  expect(exportsOf(left)).toEqual(exportsOf(active))
  expect(exportsOf(waiting)).toEqual(exportsOf(failedOver))
})

test('the first deployment of a passive Region, without replicas, is its data stack', () => {
  const app = unvalidatedApp()
  const stage = stageIn({ ...completeStage, passive: { region } }, { passive: 'true' })
  expect(stage.replicaOf).toEqual({ region: 'af-south-1' })
  const template = Template.fromStack(defineData(app, stage))
  template.hasResourceProperties('AWS::KMS::Alias', { AliasName: ALIAS })
  const outputs = Object.values(template.findOutputs('*'))
  expect(outputs.map(({ Value }) => Value)).toEqual(['DCP'])
})

test('the passive Region has its own certificates and network, and no lake', () => {
  const stage = stageIn(replicatedStage, { passive: 'true' })
  expect(stage).toMatchObject(passive.settings as object)
  expect(stage.lake).toBe(undefined)
})

const { account: _, ...unpinned } = replicatedStage
test.each([
  [unpinned as Stage, {}, 'passive requires account, region and keepsData'],
  [{ ...replicatedStage, passive: { region: 'af-south-1' } }, {}, 'must be another Region'],
  [
    replicatedStage,
    { passive: 'true', paused: 'false' },
    'only the Region that passive.isActive names',
  ],
  [afterFailover, { paused: 'false' }, 'only the Region that passive.isActive names works'],
  [{ ...completeStage, passive: { region, replica } }, {}, 'passive.settings lacks domain'],
  [completeStage, { passive: 'true' }, 'has no passive Region'],
  [completeStage, { passive: 'yes' }, '-c passive must be true or false'],
])('the stage %#, with the context %j, is refused', (stage, context, reason) => {
  expect(() => stageIn(stage, context)).toThrow(InvalidStage)
  expect(() => stageIn(stage, context)).toThrow(reason)
})
