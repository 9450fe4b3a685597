import { Duration, Stack, type StackProps } from 'aws-cdk-lib'
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb'
import { Key } from 'aws-cdk-lib/aws-kms'
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3'
import { type CfnSecret, type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Construct } from 'constructs'
import { ERASURE_DAYS } from '../../shared/domain/operator/restore.ts'
import { denyRemoval, lockOf } from '../constructs/locked-bucket.ts'
import { suppressNag } from '../constructs/nag-suppressions.ts'
import { replicaBucket, replicaKeyAlias, replicateReports } from '../constructs/replication.ts'
import { replicaRegionsOf } from '../definitions/recovery.ts'
import { resourceName } from '../definitions/resource-name.ts'
import {
  InvalidStage,
  type RestoredTable,
  removalPolicyOf,
  type Stage,
} from '../definitions/stages.ts'
import { tableDefinition } from '../definitions/table.ts'

const ACCESS_LOG_DAYS = 400

/** From a full export until the next one has ended. */
const MONTH_DAYS = 35

/** Defines the resources whose content must outlive every deployment. */
export class DataStack extends Stack {
  /** Encrypts all stored data; roles get access from each function's permissions. */
  readonly key: Key
  /** The table that the service uses: the stack's own or a restored one. */
  readonly table: dynamodb.ITableV2
  /** Seals the secrets of providers and banks, which cannot be opened without it. */
  readonly sealingKey: ISecret
  readonly reports: Bucket
  /** The sealed audit. */
  readonly audit: Bucket
  /** The exports of the table. */
  readonly lake: Bucket | undefined
  readonly referencePrefix: string

  constructor(scope: Construct, id: string, props: StackProps & { stage: Stage }) {
    super(scope, id, { ...props, terminationProtection: props.stage.keepsData })
    const { stage } = props
    // CloudFormation refuses to change an export that stacks import. Uuids of debits contain a hash of
    // the prefix: reports of banks about earlier debits would find none.
    this.referencePrefix = this.exportValue(stage.referencePrefix, {
      name: resourceName('reference-prefix', stage.name),
    })
    this.key = new Key(this, 'Key', {
      description: `Encrypts stored data, ${stage.name}`,
      enableKeyRotation: true,
      removalPolicy: removalPolicyOf(stage),
    })
    if (stage.replicaOf) this.key.addAlias(replicaKeyAlias(stage))
    this.sealingKey = this.#defineSealingKey(stage)
    const access = this.#defineAccessLog(stage)
    this.reports = this.#defineReports(stage, access)
    this.audit = this.#defineAudit(stage, access)
    this.lake = this.#defineLake(stage, access)
    if (stage.passive) replicateReports(this, stage, { reports: this.reports, key: this.key })
    const replica = stage.restoredTable ?? stage.replicaOf?.table
    if (stage.replicaOf || stage.restoredTable?.isOnly) {
      // Without its name, the app defines this stack alone.
      this.table = this.#importTable(replica ?? { name: 'none', streamLabel: 'none' })
      return
    }
    const ownTable = this.#defineTable(stage)
    // Created last: CloudFormation could not delete the protected table of a failed creation.
    ownTable.node.addDependency(this.sealingKey, this.reports, this.audit)
    // Keeps the exports when the service switches to a restored table.
    for (const value of [ownTable.tableArn, ownTable.tableName, ownTable.tableStreamArn])
      this.exportValue(value)
    this.table = replica ? this.#importTable(replica) : (ownTable as dynamodb.ITableV2)
  }

  #defineSealingKey(stage: Stage): ISecret {
    if (stage.replicaOf) {
      const { sealingKeyArn: secretCompleteArn } = stage.replicaOf
      return secretCompleteArn === undefined
        ? Secret.fromSecretNameV2(this, 'SealingKey', 'none')
        : Secret.fromSecretAttributes(this, 'SealingKey', { secretCompleteArn })
    }
    const replicaRegions = replicaRegionsOf(stage).map((region) => ({ region }))
    const secret = new Secret(this, 'SealingKey', {
      description: `Seals the secrets of providers, ${stage.name}`,
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      ...(replicaRegions.length > 0 && { replicaRegions }),
      removalPolicy: removalPolicyOf(stage),
    })
    // With the construct's encryptionKey, the key policy would refer to roles of the service stack.
    ;(secret.node.defaultChild as CfnSecret).kmsKeyId = this.key.keyArn
    suppressNag(secret, {
      SMG4: 'An operator rotates the key: its old version must stay until all secrets are resealed',
    })
    return secret as ISecret
  }

  #defineTable(stage: Stage): dynamodb.TableV2 {
    const { partitionKey, sortKey, timeToLive, indexes } = tableDefinition
    const table = new dynamodb.TableV2(this, 'Table', {
      partitionKey: { name: partitionKey, type: dynamodb.AttributeType.STRING },
      sortKey: { name: sortKey, type: dynamodb.AttributeType.STRING },
      globalSecondaryIndexes: indexes.map((index) => ({
        indexName: index.name,
        partitionKey: { name: index.partitionKey, type: dynamodb.AttributeType.STRING },
        sortKey: { name: index.sortKey, type: dynamodb.AttributeType.STRING },
        ...(index.projected.length > 0
          ? {
              projectionType: dynamodb.ProjectionType.INCLUDE,
              nonKeyAttributes: [...index.projected],
            }
          : { projectionType: dynamodb.ProjectionType.KEYS_ONLY }),
      })),
      billing: dynamodb.Billing.onDemand(),
      encryption: dynamodb.TableEncryptionV2.awsManagedKey(),
      dynamoStream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: timeToLive,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: stage.keepsData,
      removalPolicy: removalPolicyOf(stage),
      ...(stage.passive && { replicas: [{ region: stage.passive.region }] }),
    })
    // TableEncryptionV2.customerManagedKey needs the Region, which the templates leave open. The
    // construct lists the replicas of other Regions first.
    const keys = [...(stage.passive ? [replicaKeyAlias(stage)] : []), this.key.keyArn]
    keys.forEach((key, index) => {
      ;(table.node.defaultChild as dynamodb.CfnGlobalTable).addPropertyOverride(
        `Replicas.${index}.SSESpecification.KMSMasterKeyId`,
        key,
      )
    })
    return table
  }

  #importTable({ name, streamLabel }: RestoredTable): dynamodb.ITableV2 {
    const arn = { service: 'dynamodb', resource: 'table' }
    return dynamodb.TableV2.fromTableAttributes(this, 'RestoredTable', {
      tableArn: this.formatArn({ ...arn, resourceName: name }),
      tableStreamArn: this.formatArn({ ...arn, resourceName: `${name}/stream/${streamLabel}` }),
      encryptionKey: this.key,
    })
  }

  #defineAccessLog(stage: Stage): Bucket {
    return new Bucket(this, 'ReportsAccess', {
      ...closed(stage),
      // S3 cannot write access logs with a customer-managed key.
      encryption: BucketEncryption.S3_MANAGED,
      lifecycleRules: [{ expiration: Duration.days(ACCESS_LOG_DAYS) }],
    })
  }

  #encrypted(stage: Stage, access: Bucket) {
    return {
      ...closed(stage),
      encryption: BucketEncryption.KMS,
      encryptionKey: this.key,
      bucketKeyEnabled: true,
      versioned: true,
      serverAccessLogsBucket: access as IBucket,
      lifecycleRules: [ABORTS_UPLOADS],
    }
  }

  #defineReports(stage: Stage, access: Bucket): Bucket {
    return new Bucket(this, 'Reports', {
      ...this.#encrypted(stage, access),
      ...(stage.replicaOf && { bucketName: replicaBucket(stage, this.region) }),
      lifecycleRules: [
        ABORTS_UPLOADS,
        // Exports of customers are for one download.
        {
          prefix: 'exports/',
          expiration: Duration.days(1),
          noncurrentVersionExpiration: Duration.days(1),
        },
        // Earlier backups may live longer than the present `keepDays`.
        {
          prefix: 'erasures/',
          expiration: Duration.days(ERASURE_DAYS + 1),
          noncurrentVersionExpiration: Duration.days(1),
        },
      ],
    })
  }

  #defineLake(stage: Stage, access: Bucket): Bucket | undefined {
    const { lake } = stage
    if (!lake) return undefined
    if (lake.keepDays < MONTH_DAYS)
      throw new InvalidStage(`lake.keepDays must be at least ${MONTH_DAYS}`)
    return new Bucket(this, 'Lake', {
      ...this.#encrypted(stage, access),
      serverAccessLogsPrefix: 'lake/',
      lifecycleRules: [
        ABORTS_UPLOADS,
        { expiration: Duration.days(lake.keepDays), noncurrentVersionExpiration: Duration.days(1) },
      ],
    })
  }

  /** Keeps each version of an object for the stage's years, also from administrators. */
  #defineAudit(stage: Stage, access: Bucket): Bucket {
    const bucket = new Bucket(this, 'Audit', {
      ...this.#encrypted(stage, access),
      serverAccessLogsPrefix: 'audit/',
      ...lockOf(stage),
    })
    if (stage.auditYears) denyRemoval(bucket)
    return bucket
  }
}

/** A crashed function leaves parts, which no list shows and which cost money. */
const ABORTS_UPLOADS = { abortIncompleteMultipartUploadAfter: Duration.days(1) }

const closed = (stage: Stage) => ({
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  enforceSSL: true,
  minimumTLSVersion: 1.2,
  removalPolicy: removalPolicyOf(stage),
  // CloudFormation deletes empty buckets only.
  autoDeleteObjects: !stage.keepsData,
})
