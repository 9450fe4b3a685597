import { Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import {
  AttributeType,
  Billing,
  ProjectionType,
  StreamViewType,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb'
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Construct } from 'constructs'
import type { Stage } from './stages.ts'
import { tableDefinition } from './table.ts'

/** What must outlive every deployment. Both this and the service can be replaced, its content not. */
export class DataStack extends Stack {
  readonly table: TableV2
  /** The secrets of partners and banks are sealed under it and lost without it, so it stays too. */
  readonly sealingKey: Secret
  /** The reports of settlement batches. */
  readonly reports: Bucket

  constructor(scope: Construct, id: string, props: StackProps & { stage: Stage }) {
    super(scope, id, props)
    const { partitionKey, sortKey, timeToLive, indexes } = tableDefinition
    this.table = new TableV2(this, 'Table', {
      partitionKey: { name: partitionKey, type: AttributeType.STRING },
      sortKey: { name: sortKey, type: AttributeType.STRING },
      globalSecondaryIndexes: indexes.map((index) => ({
        indexName: index.name,
        partitionKey: { name: index.partitionKey, type: AttributeType.STRING },
        sortKey: { name: index.sortKey, type: AttributeType.STRING },
        projectionType: ProjectionType.KEYS_ONLY,
      })),
      billing: Billing.onDemand(),
      dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: timeToLive,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: props.stage.deletionProtection,
      removalPolicy: RemovalPolicy.RETAIN,
    })
    this.sealingKey = new Secret(this, 'SealingKey', {
      description: `Seals the secrets of partners, ${props.stage.name}`,
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: RemovalPolicy.RETAIN,
    })
    this.reports = new Bucket(this, 'Reports', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      versioned: true,
      // A function that dies while it writes leaves parts that no list shows and that cost money.
      lifecycleRules: [{ abortIncompleteMultipartUploadAfter: Duration.days(1) }],
      removalPolicy: RemovalPolicy.RETAIN,
    })
  }
}
