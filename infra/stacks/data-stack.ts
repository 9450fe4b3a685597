import { Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import {
  AttributeType,
  Billing,
  type CfnGlobalTable,
  type ITableV2,
  ProjectionType,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb'
import { Key } from 'aws-cdk-lib/aws-kms'
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3'
import { type CfnSecret, Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Construct } from 'constructs'
import { suppressNag } from '../constructs/nag-suppressions.ts'
import type { RestoredTable, Stage } from '../definitions/stages.ts'
import { tableDefinition } from '../definitions/table.ts'

/** How long it stays known who read which report. */
const ACCESS_LOG_DAYS = 400

/** What must outlive every deployment. Both this and the service can be replaced, its content not. */
export class DataStack extends Stack {
  /** Of all that is kept; who may use it is said where each function's permissions are. */
  readonly key: Key
  /** What the service reads and writes. */
  readonly table: ITableV2
  /** The secrets of providers and banks are sealed under it and lost without it, so it stays too. */
  readonly sealingKey: Secret
  /** The reports of settlement batches. */
  readonly reports: Bucket

  constructor(scope: Construct, id: string, props: StackProps & { stage: Stage }) {
    super(scope, id, props)
    const { stage } = props
    const removalPolicy = stage.keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY
    this.key = new Key(this, 'Key', {
      description: `Encrypts stored data, ${stage.name}`,
      enableKeyRotation: true,
      removalPolicy,
    })
    const own = this.#defineTable(stage, removalPolicy)
    // A service that has come to use another one must not have to let go of these first.
    for (const value of [own.tableArn, own.tableName, own.tableStreamArn]) this.exportValue(value)
    this.table = stage.restoredTable ? this.#restored(stage.restoredTable) : (own as ITableV2)
    this.sealingKey = new Secret(this, 'SealingKey', {
      description: `Seals the secrets of providers, ${stage.name}`,
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy,
    })
    // Given to the construct, the key would name its readers in its policy, and they are not here.
    ;(this.sealingKey.node.defaultChild as CfnSecret).kmsKeyId = this.key.keyArn
    suppressNag(this.sealingKey, {
      SMG4: 'A rotated key could not open secrets that this key has sealed',
    })
    this.reports = this.#defineReports(removalPolicy)
  }

  #defineTable(stage: Stage, removalPolicy: RemovalPolicy): TableV2 {
    const { partitionKey, sortKey, timeToLive, indexes } = tableDefinition
    const table = new TableV2(this, 'Table', {
      partitionKey: { name: partitionKey, type: AttributeType.STRING },
      sortKey: { name: sortKey, type: AttributeType.STRING },
      globalSecondaryIndexes: indexes.map((index) => ({
        indexName: index.name,
        partitionKey: { name: index.partitionKey, type: AttributeType.STRING },
        sortKey: { name: index.sortKey, type: AttributeType.STRING },
        ...(index.projected.length > 0
          ? { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...index.projected] }
          : { projectionType: ProjectionType.KEYS_ONLY }),
      })),
      billing: Billing.onDemand(),
      encryption: TableEncryptionV2.awsManagedKey(),
      dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: timeToLive,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: stage.keepsData,
      removalPolicy,
    })
    // CDK's own way to another key wants the Region in the template, which is to fit any.
    const replica = 'Replicas.0.SSESpecification.KMSMasterKeyId'
    ;(table.node.defaultChild as CfnGlobalTable).addPropertyOverride(replica, this.key.keyArn)
    return table
  }

  #restored({ name, streamLabel }: RestoredTable): ITableV2 {
    const arn = { service: 'dynamodb', resource: 'table' }
    return TableV2.fromTableAttributes(this, 'RestoredTable', {
      tableArn: this.formatArn({ ...arn, resourceName: name }),
      tableStreamArn: this.formatArn({ ...arn, resourceName: `${name}/stream/${streamLabel}` }),
      encryptionKey: this.key,
    })
  }

  #defineReports(removalPolicy: RemovalPolicy): Bucket {
    const closed = {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      removalPolicy,
    }
    const access = new Bucket(this, 'ReportsAccess', {
      ...closed,
      // What S3 writes its own log with; it names reports and shows none.
      encryption: BucketEncryption.S3_MANAGED,
      lifecycleRules: [{ expiration: Duration.days(ACCESS_LOG_DAYS) }],
    })
    return new Bucket(this, 'Reports', {
      ...closed,
      encryption: BucketEncryption.KMS,
      encryptionKey: this.key,
      // The key is asked once in a while for the bucket, not once for each report.
      bucketKeyEnabled: true,
      versioned: true,
      serverAccessLogsBucket: access as IBucket,
      // A function that dies while it writes leaves parts that no list shows and that cost money.
      lifecycleRules: [{ abortIncompleteMultipartUploadAfter: Duration.days(1) }],
    })
  }
}
