import { Match } from 'aws-cdk-lib/assertions'
import { expect, test } from 'vitest'
import { completeStage } from '../../infra/definitions/complete-stage.ts'
import { backupOf } from '../../infra/definitions/recovery.ts'
import { type Stage, stageNamed } from '../../infra/definitions/stages.ts'
import { propertiesOf, type TemplateNode, templatesOf } from '../support/templates.ts'

const { all, data, findings } = templatesOf(completeStage)
const declined = { declined: 'another team copies the table' }
const plain = templatesOf({ ...stageNamed('production'), backup: declined }).all

const plansOf = (template: typeof all) =>
  propertiesOf(template, 'AWS::Backup::BackupPlan').map(({ BackupPlan }) => BackupPlan)
const arnOf = (type: string, name: string) => {
  const [id] = Object.keys(data.findResources(type)).filter((id) => id.slice(0, -8) === name)
  return { 'Fn::ImportValue': expect.stringContaining(`${id}Arn`) }
}
const table = arnOf('AWS::DynamoDB::GlobalTable', 'Table')
const reports = arnOf('AWS::S3::Bucket', 'Reports')

test('a stage with every setting has no finding of AWS Solutions', () => {
  expect(findings()).toEqual([])
})

test('the backups and replicas exist only if the stage sets them', () => {
  for (const type of ['BackupVault', 'BackupPlan', 'BackupSelection']) {
    plain.resourceCountIs(`AWS::Backup::${type}`, 0)
  }
  const text = JSON.stringify(plain.toJSON())
  expect(text).not.toMatch(/ReplicaRegions|backup-missing|backup-failed|CopyFailed/)
})

test('the vault has its own key, a lock, and outlives its stack', () => {
  all.hasResource('AWS::Backup::BackupVault', {
    DeletionPolicy: 'RetainExceptOnCreate',
    Properties: {
      BackupVaultName: 'debit-collection-complete',
      EncryptionKeyArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^BackupKey'), 'Arn'] },
      LockConfiguration: { MinRetentionDays: 30, MaxRetentionDays: 90 },
    },
  })
  // With those of the data and the alarms.
  all.resourceCountIs('AWS::KMS::Key', 3)
})

test('the table and the reports have daily backups with copies, and the reports continuous ones at another hour', () => {
  const selected = propertiesOf(all, 'AWS::Backup::BackupSelection').map(
    ({ BackupSelection }) => BackupSelection.Resources,
  )
  expect(selected).toEqual([[table, reports], [reports]])
  const rules = plansOf(all).map(({ BackupPlanRule }) => BackupPlanRule)
  const [[daily], [continuous]] = rules as [[TemplateNode], [TemplateNode]]
  expect(daily).toMatchObject({
    ScheduleExpression: 'cron(0 3 * * ? *)',
    Lifecycle: { DeleteAfterDays: 90 },
    CopyActions: [
      {
        DestinationBackupVaultArn: backupOf(completeStage)?.copyTo,
        Lifecycle: { DeleteAfterDays: 90 },
      },
    ],
  })
  expect(continuous).toMatchObject({
    ScheduleExpression: 'cron(0 15 * * ? *)',
    EnableContinuousBackup: true,
    Lifecycle: { DeleteAfterDays: 35 },
  })
  expect(continuous).not.toHaveProperty('CopyActions')
})

test('a lock longer than 35 days allows no continuous backups', () => {
  const locked = templatesOf({ ...completeStage, backup: { keepDays: 399, lockDays: 36 } })
  expect(plansOf(locked.all)).toHaveLength(1)
})

test('a backup lives no longer than erasures can be repeated', () => {
  const stage = { ...completeStage, backup: { keepDays: 400, lockDays: 30 } }
  expect(() => templatesOf(stage)).toThrow('backup.keepDays must be below 400')
})

test('a stage with copies of its backups is refused without its own Region', () => {
  const { region: _, ...unpinned } = completeStage
  expect(() => templatesOf(unpinned)).toThrow('backup.copyTo requires region')
})

test('the sealing key is replicated to another Region of the copies only', () => {
  const replicasOf = (stage: Stage) =>
    propertiesOf(templatesOf(stage).data, 'AWS::SecretsManager::Secret')[0]?.ReplicaRegions
  expect(replicasOf(completeStage)).toEqual([{ Region: 'eu-west-1' }])
  expect(replicasOf({ ...completeStage, region: 'eu-west-1' })).toBeUndefined()
  expect(replicasOf({ ...completeStage, backup: { keepDays: 90, lockDays: 30 } })).toBeUndefined()
})

test('an alarm rings if no backup completes for 36 hours', () => {
  all.hasResourceProperties('AWS::CloudWatch::Alarm', {
    AlarmName: 'debit-collection-complete-backup-missing',
    Namespace: 'AWS/Backup',
    MetricName: 'NumberOfBackupJobsCompleted',
    Dimensions: [{ Name: 'BackupVaultName', Value: 'debit-collection-complete' }],
    TreatMissingData: 'breaching',
    EvaluationPeriods: 36,
    Period: 3600,
  })
})

test('a job that fails, expires or is aborted, and a copy that fails, are tickets', () => {
  const [alarm] = propertiesOf(all, 'AWS::CloudWatch::Alarm').filter(
    ({ AlarmName }) => AlarmName === 'debit-collection-complete-backup-failed',
  )
  const watched = alarm?.Metrics.flatMap(
    ({ MetricStat }: TemplateNode) => MetricStat?.Metric.MetricName ?? [],
  )
  expect(watched).toEqual([
    'NumberOfBackupJobsFailed',
    'NumberOfBackupJobsExpired',
    'NumberOfBackupJobsAborted',
  ])
  all.hasResourceProperties('AWS::Events::Rule', {
    Name: 'debit-collection-complete-backup-copy-failed',
    EventPattern: {
      source: ['aws.backup'],
      detail: { sourceBackupVaultArn: [{ suffix: ':debit-collection-complete' }] },
    },
    Targets: [{ Arn: { Ref: Match.stringLikeRegexp('^Tickets') } }],
  })
})

test('the production stage has backups, and a domain has an alarm on its certificate', () => {
  expect(backupOf(stageNamed('production'))).toMatchObject({ keepDays: 35 })
  all.hasResourceProperties('AWS::CloudWatch::Alarm', {
    AlarmName: 'debit-collection-complete-domain-certificate-expires',
    Dimensions: [{ Name: 'CertificateArn', Value: completeStage.domain?.certificateArn }],
  })
})
