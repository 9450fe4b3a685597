import { Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib'
import { ReadWriteType, Trail } from 'aws-cdk-lib/aws-cloudtrail'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3'
import { suppressNag } from './nag-suppressions.ts'

const TRAIL_DAYS = 400

/** Records invocations of operator functions with the caller that AWS verified. */
export const defineInvocationTrail = (
  stack: Stack,
  stageName: string,
  operators: readonly IFunction[],
): void => {
  const bucket = new Bucket(stack, 'InvocationTrailBucket', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    encryption: BucketEncryption.S3_MANAGED,
    lifecycleRules: [{ expiration: Duration.days(TRAIL_DAYS) }],
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  })
  suppressNag(bucket, {
    S1: 'The bucket holds a log; a log of its readers would need another bucket',
  })
  const trail = new Trail(stack, 'InvocationTrail', {
    trailName: `debit-collection-${stageName}-operators`,
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
