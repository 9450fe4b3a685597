import { Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib'
import { ReadWriteType, Trail } from 'aws-cdk-lib/aws-cloudtrail'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3'
import type { Stage } from '../definitions/stages.ts'
import { denyRemoval, lockOf } from './locked-bucket.ts'
import { suppressNag } from './nag-suppressions.ts'

const TRAIL_DAYS = 400

/** An object expires after its lock has ended. */
const TRAIL_LOCKED_YEAR_DAYS = 367

/** Records invocations of operator functions with the caller that AWS verified. */
export const defineInvocationTrail = (
  stack: Stack,
  stage: Pick<Stage, 'name' | 'auditYears'>,
  operators: readonly IFunction[],
): void => {
  const { auditYears } = stage
  const bucket = new Bucket(stack, 'InvocationTrailBucket', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    encryption: BucketEncryption.S3_MANAGED,
    lifecycleRules: [
      {
        expiration: Duration.days(
          auditYears === undefined ? TRAIL_DAYS : auditYears * TRAIL_LOCKED_YEAR_DAYS,
        ),
        // A lock needs versions, which would stay behind a delete marker.
        ...(auditYears && { noncurrentVersionExpiration: Duration.days(1) }),
      },
    ],
    ...lockOf(stage),
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  })
  suppressNag(bucket, {
    S1: 'The bucket holds a log; a log of its readers would need another bucket',
  })
  if (auditYears) denyRemoval(bucket)
  const trail = new Trail(stack, 'InvocationTrail', {
    trailName: `debit-collection-${stage.name}-operators`,
    bucket: bucket as IBucket,
    isMultiRegionTrail: false,
    includeGlobalServiceEvents: false,
    // A rule of the monitoring stack sees the calls on keys among them.
    managementEvents: ReadWriteType.WRITE_ONLY,
  })
  trail.addLambdaEventSelector([...operators], {
    readWriteType: ReadWriteType.ALL,
    includeManagementEvents: false,
  })
}
