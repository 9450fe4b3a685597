import { Stack, type StackProps } from 'aws-cdk-lib'
import { CfnNamedQuery, CfnWorkGroup } from 'aws-cdk-lib/aws-athena'
import { CfnDatabase, CfnTable } from 'aws-cdk-lib/aws-glue'
import { ManagedPolicy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Bucket } from 'aws-cdk-lib/aws-s3'
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler'
import { CfnStateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import type { Construct } from 'constructs'
import { arnInFindings, importInFindings, suppressNag } from '../constructs/nag-suppressions.ts'
import { lakeQueries } from '../definitions/lake-queries.ts'
import { exportDefinition } from '../definitions/nightly-export.ts'
import { resourceName, stageName } from '../definitions/resource-name.ts'
import type { Stage } from '../definitions/stages.ts'
import type { DataStack } from './data-stack.ts'

type LakeProps = StackProps & { stage: Stage; data: DataStack; bucket: Bucket }

/** Defines the nightly export of the table, its queries, and a policy for copies (docs/restore.md#lake). */
export class LakeStack extends Stack {
  constructor(scope: Construct, id: string, { stage, data, bucket, ...props }: LakeProps) {
    super(scope, id, props)
    this.#defineExport(stage, bucket, data)
    this.#defineQueries(stage, bucket, data)
    const buckets = [bucket, data.audit, data.reports]
    const reader = new ManagedPolicy(this, 'LakeReader', {
      managedPolicyName: resourceName('lake-reader', stage.name),
      description: 'Reads the exports, the sealed audit and the reports, to copy them',
      statements: [
        statement(
          ['s3:ListBucket', 's3:GetBucketLocation'],
          ...buckets.map((one) => one.bucketArn),
        ),
        statement(['s3:GetObject'], ...buckets.map((one) => one.arnForObjects('*'))),
        statement(['kms:Decrypt'], data.key.keyArn),
      ],
    })
    for (const { bucketArn } of buckets)
      suppressNag(reader, {
        [`IAM5[Resource::${importInFindings(data, bucketArn)}/*]`]: 'A copy has all objects',
      })
  }

  #defineExport(stage: Stage, bucket: Bucket, data: DataStack): void {
    const { tableArn } = data.table
    const role = new Role(this, 'ExportRole', {
      assumedBy: new ServicePrincipal('states.amazonaws.com'),
    })
    for (const one of [
      statement(['dynamodb:ExportTableToPointInTime'], tableArn),
      statement(['dynamodb:DescribeExport'], `${tableArn}/export/*`),
      statement(
        ['s3:AbortMultipartUpload', 's3:PutObject', 's3:PutObjectAcl'],
        bucket.arnForObjects('*'),
      ),
      statement(['kms:Decrypt', 'kms:GenerateDataKey'], data.key.keyArn),
    ])
      role.addToPolicy(one)
    const table = stage.restoredTable
      ? arnInFindings(this, tableArn)
      : importInFindings(data, tableArn)
    for (const all of [`${table}/export/*`, `${importInFindings(data, bucket.bucketArn)}/*`])
      suppressNag(role, { [`IAM5[Resource::${all}]`]: 'Exports and their objects have random ids' })
    const names = {
      TableArn: tableArn,
      S3Bucket: bucket.bucketName,
      S3SseKmsKeyId: data.key.keyArn,
    }
    const machine = new CfnStateMachine(this, 'Export', {
      stateMachineName: resourceName('export', stage.name),
      roleArn: role.roleArn,
      definitionString: this.toJsonString(exportDefinition(names)),
    })
    // Without its statements, the first execution fails.
    machine.node.addDependency(role)
    suppressNag(machine, {
      SF1: 'AWS keeps the history of executions for 90 days, and an alarm watches failures',
      SF2: 'Three calls need no trace',
    })
    const starter = new Role(this, 'ExportSchedule', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com'),
    })
    starter.addToPolicy(statement(['states:StartExecution'], machine.attrArn))
    new CfnSchedule(this, 'Nightly', {
      name: resourceName('export', stage.name),
      state: stage.paused ? 'DISABLED' : 'ENABLED',
      scheduleExpression: 'cron(30 4 * * ? *)',
      scheduleExpressionTimezone: 'UTC',
      flexibleTimeWindow: { mode: 'OFF' },
      target: {
        arn: machine.attrArn,
        roleArn: starter.roleArn,
        input: JSON.stringify({ time: '<aws.scheduler.scheduled-time>' }),
      },
    })
  }

  #defineQueries(stage: Stage, bucket: Bucket, data: DataStack): void {
    const database = new CfnDatabase(this, 'Database', {
      catalogId: this.account,
      databaseInput: { name: stageName(stage.name).replaceAll('-', '_') },
    })
    new CfnTable(this, 'Exported', {
      catalogId: this.account,
      databaseName: database.ref,
      tableInput: {
        name: 'exported',
        tableType: 'EXTERNAL_TABLE',
        storageDescriptor: {
          // A line is one text: the queries extract what they need from its JSON.
          columns: [{ name: 'line', type: 'string' }],
          location: `s3://${bucket.bucketName}/AWSDynamoDB/`,
          inputFormat: 'org.apache.hadoop.mapred.TextInputFormat',
          outputFormat: 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat',
          serdeInfo: { serializationLibrary: 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe' },
        },
      },
    })
    const workgroup = new CfnWorkGroup(this, 'Workgroup', {
      name: stageName(stage.name),
      recursiveDeleteOption: true,
      workGroupConfiguration: {
        resultConfiguration: {
          outputLocation: `s3://${bucket.bucketName}/results/`,
          encryptionConfiguration: { encryptionOption: 'SSE_KMS', kmsKey: data.key.keyArn },
        },
      },
    })
    for (const [name, queryString] of Object.entries(lakeQueries)) {
      const query = new CfnNamedQuery(this, `${name}-query`, {
        ...{ name, queryString },
        database: database.ref,
        workGroup: workgroup.name,
      })
      query.node.addDependency(workgroup)
    }
  }
}

const statement = (actions: string[], ...resources: string[]) =>
  new PolicyStatement({ actions, resources })
