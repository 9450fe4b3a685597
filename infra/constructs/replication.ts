import type { Stack } from 'aws-cdk-lib'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Key } from 'aws-cdk-lib/aws-kms'
import type { Bucket, CfnBucket } from 'aws-cdk-lib/aws-s3'
import { REPLICATION_RULE } from '../definitions/metrics.ts'
import { resourceName } from '../definitions/resource-name.ts'
import type { Stage } from '../definitions/stages.ts'
import { suppressNag } from './nag-suppressions.ts'

/** Names in the passive Region, which the stacks of the active one use without importing values. */

/** DynamoDB and S3 find the key of a Region by its alias. */
export const replicaKeyAlias = ({ name }: Pick<Stage, 'name'>): string =>
  `alias/${resourceName('passive', name)}`

/** Names of buckets are global. */
export const replicaBucket = ({ name, account }: Stage, region: string): string =>
  `debits-${name}-reports-${account}-${region}`

type ReplicatedData = { reports: Bucket; key: Key }

/** Replicates the reports and the numbers of erased customers to the bucket of the passive Region. */
export const replicateReports = (
  stack: Stack,
  stage: Stage,
  { reports, key }: ReplicatedData,
): void => {
  const region = stage.passive?.region ?? ''
  const target = `arn:aws:s3:::${replicaBucket(stage, region)}`
  const alias = replicaKeyAlias(stage)
  const keys = `arn:aws:kms:${region}:${stage.account}:key/*`
  const role = new Role(stack, 'ReplicationRole', {
    assumedBy: new ServicePrincipal('s3.amazonaws.com'),
  })
  const allow = (actions: string[], resource: string, conditions = {}) =>
    role.addToPolicy(new PolicyStatement({ actions, resources: [resource], conditions }))
  allow(['s3:GetReplicationConfiguration', 's3:ListBucket'], reports.bucketArn)
  allow(
    ['s3:GetObjectVersionForReplication', 's3:GetObjectVersionAcl', 's3:GetObjectVersionTagging'],
    reports.arnForObjects('*'),
  )
  allow(['s3:ReplicateObject', 's3:ReplicateTags'], `${target}/*`)
  allow(['kms:Decrypt'], key.keyArn)
  allow(['kms:Encrypt', 'kms:GenerateDataKey'], keys, {
    'ForAnyValue:StringEquals': { 'kms:ResourceAliases': alias },
  })
  const source = stack.resolve(reports.bucketArn)['Fn::GetAtt'].join('.')
  for (const all of [`<${source}>/*`, `${target}/*`])
    suppressNag(role, { [`IAM5[Resource::${all}]`]: 'A replica has all objects' })
  suppressNag(role, { [`IAM5[Resource::${keys}]`]: 'A condition names the alias of the key' })
  ;(reports.node.defaultChild as CfnBucket).replicationConfiguration = {
    role: role.roleArn,
    rules: [
      {
        ...{ id: REPLICATION_RULE, status: 'Enabled', priority: 1, filter: { prefix: '' } },
        deleteMarkerReplication: { status: 'Disabled' },
        sourceSelectionCriteria: { sseKmsEncryptedObjects: { status: 'Enabled' } },
        destination: {
          bucket: target,
          metrics: { status: 'Enabled' },
          encryptionConfiguration: {
            replicaKmsKeyId: `arn:aws:kms:${region}:${stage.account}:${alias}`,
          },
        },
      },
    ],
  }
}
