import { Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup'
import { Schedule } from 'aws-cdk-lib/aws-events'
import type { IRole } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'
import { ERASURE_DAYS } from '../../shared/domain/operator/restore.ts'
import { definePlatformRole } from '../constructs/platform-role.ts'
import { resourceName, stageName } from '../definitions/resource-name.ts'
import { type Backup, InvalidStage, type Stage } from '../definitions/stages.ts'
import type { DataStack } from './data-stack.ts'

/** After settlement and reconciliation, UTC. */
const EVERY_NIGHT = Schedule.cron({ hour: '3', minute: '0' })
/** AWS runs one backup of a bucket at a time; a continuous one follows changes at any hour. */
const EVERY_AFTERNOON = Schedule.cron({ hour: '15', minute: '0' })
/** The maximum of AWS for continuous backups. */
const CONTINUOUS_DAYS = 35

type BackupProps = StackProps & { stage: Stage; backup: Backup; data: DataStack }

/** Defines backups of the table and the reports in a locked vault with a key of its own. */
export class BackupStack extends Stack {
  constructor(scope: Construct, id: string, { stage, backup, data, ...props }: BackupProps) {
    super(scope, id, { ...props, terminationProtection: stage.keepsData })
    const { keepDays, lockDays, copyTo } = backup
    if (keepDays >= ERASURE_DAYS)
      throw new InvalidStage(`backup.keepDays must be below ${ERASURE_DAYS}`)
    const removalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
    const vault = new BackupVault(this, 'Vault', {
      backupVaultName: stageName(stage.name),
      encryptionKey: new Key(this, 'BackupKey', {
        description: `Encrypts backups, ${stage.name}`,
        enableKeyRotation: true,
        removalPolicy,
      }),
      lockConfiguration: {
        minRetention: Duration.days(lockDays),
        maxRetention: Duration.days(keepDays),
      },
      removalPolicy,
    })
    // A restore uses another role, so this one cannot write to a table or a bucket.
    const role = definePlatformRole(
      this,
      'BackupRole',
      'backup',
      'service-role/AWSBackupServiceRolePolicyForBackup',
      'AWSBackupServiceRolePolicyForS3Backup',
    )
    const plan = (name: string, resources: string[], rule: BackupPlanRule) =>
      new BackupPlan(this, name, {
        backupPlanName: resourceName(name, stage.name),
        backupVault: vault,
        backupPlanRules: [rule],
      }).addSelection('Data', {
        resources: resources.map((arn) => BackupResource.fromArn(arn)),
        role: role as IRole,
        disableDefaultBackupPolicy: true,
      })
    const { tableArn } = data.table
    const { bucketArn } = data.reports
    const copy = copyTo && BackupVault.fromBackupVaultArn(this, 'CopyVault', copyTo)
    const daily = new BackupPlanRule({
      ruleName: 'daily',
      scheduleExpression: EVERY_NIGHT,
      deleteAfter: Duration.days(keepDays),
      ...(copy && {
        copyActions: [{ destinationBackupVault: copy, deleteAfter: Duration.days(keepDays) }],
      }),
    })
    plan('daily', [tableArn, bucketArn], daily)
    // The table has its own point-in-time recovery, which AWS Backup cannot replace.
    const continuousDays = Math.min(keepDays, CONTINUOUS_DAYS)
    if (continuousDays < lockDays) return
    const continuous = new BackupPlanRule({
      ruleName: 'continuous',
      scheduleExpression: EVERY_AFTERNOON,
      enableContinuousBackup: true,
      deleteAfter: Duration.days(continuousDays),
    })
    plan('continuous', [bucketArn], continuous)
  }
}
