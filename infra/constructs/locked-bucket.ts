import { Duration } from 'aws-cdk-lib'
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { type Bucket, ObjectLockRetention } from 'aws-cdk-lib/aws-s3'
import type { Stage } from '../definitions/stages.ts'

const YEAR_DAYS = 366

/** Returns the lock of a bucket whose versions stay for the years of a stage, in compliance mode. */
export const lockOf = ({ auditYears }: Pick<Stage, 'auditYears'>) =>
  auditYears === undefined
    ? {}
    : {
        objectLockEnabled: true,
        objectLockDefaultRetention: ObjectLockRetention.compliance(
          Duration.days(auditYears * YEAR_DAYS),
        ),
      }

/** Denies the removal of objects and versions to everybody: a delete marker would hide an object. */
export const denyRemoval = (bucket: Bucket): void => {
  bucket.addToResourcePolicy(
    new PolicyStatement({
      sid: 'KeepObjects',
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      actions: ['s3:BypassGovernanceRetention', 's3:DeleteObject', 's3:DeleteObjectVersion'],
      resources: [bucket.arnForObjects('*')],
    }),
  )
}
