import { Duration, type Stack } from 'aws-cdk-lib'
import * as awsLambda from 'aws-cdk-lib/aws-lambda'
import { bundleFolder } from '../bundles/build.ts'
import { environmentOf } from '../definitions/environment.ts'
import { type FunctionRow, RECURSIVE, reservedFor } from '../definitions/functions.ts'
import { resourceName } from '../definitions/resource-name.ts'
import { defineRole, type FunctionResources } from './execution-role.ts'
import { defineLog } from './log-group.ts'
import { queueNamed } from './sqs-queues.ts'

/** The properties of every function, also of the probe. */
export const functionDefaults = {
  runtime: awsLambda.Runtime.NODEJS_24_X,
  architecture: awsLambda.Architecture.ARM_64,
  // Lambda's own lines are stored only for failures. The function writes its lines as JSON itself.
  loggingFormat: awsLambda.LoggingFormat.JSON,
  systemLogLevelV2: awsLambda.SystemLogLevel.WARN,
}

/** Returns the bundle; a placeholder when the app skips bundling, as in tests of templates. */
export const codeOf = (stack: Stack, name: string): awsLambda.Code =>
  stack.bundlingRequired
    ? awsLambda.Code.fromAsset(bundleFolder(name))
    : awsLambda.Code.fromInline('//')

export const defineFunction = (
  stack: Stack,
  row: FunctionRow,
  resources: FunctionResources,
): awsLambda.Function => {
  const { stage, data, queues, schedules, hosts, network } = resources
  const { calls } = row.permissions
  const logGroup = defineLog(stack, `${row.name}-log`, stage)
  const reserved = reservedFor(row.name, stage)
  return new awsLambda.Function(stack, row.name, {
    ...functionDefaults,
    functionName: resourceName(row.name, stage.name),
    code: codeOf(stack, row.name),
    handler: 'index.handler',
    timeout: Duration.seconds(row.timeoutSeconds),
    memorySize: row.memoryMegabytes,
    logGroup,
    role: defineRole(stack, row, { ...resources, logGroup }),
    ...(reserved !== undefined && { reservedConcurrentExecutions: reserved }),
    ...(RECURSIVE.has(row.name) && { recursiveLoop: awsLambda.RecursiveLoop.ALLOW }),
    ...(network &&
      calls && {
        vpc: network.vpc,
        securityGroups: calls.map((peers) => network.securityGroups[peers]),
      }),
    environment: environmentOf(
      row,
      {
        ...stage,
        ...{ stage: stage.name, ownHosts: hosts, referencePrefix: data.referencePrefix },
      },
      {
        tableName: data.table.tableName,
        queueUrl: (name) => queueNamed(queues, name).queueUrl,
        queueArn: (name) => queueNamed(queues, name).queueArn,
        scheduleGroup: schedules?.group.ref ?? '',
        scheduleRoleArn: schedules?.role.roleArn ?? '',
        sealingKeyArn: data.sealingKey.secretArn,
        reportsBucket: data.reports.bucketName,
        auditBucket: data.audit.bucketName,
        functionPrefix: resourceName('', stage.name),
      },
    ),
  })
}

/** Returns the alias that callers and event sources use; a deployment moves it to a new version. */
export const defineLiveAlias = (lambda: awsLambda.Function): awsLambda.Alias => {
  const version = lambda.currentVersion as awsLambda.IVersion
  return new awsLambda.Alias(lambda, 'live', { aliasName: 'live', version })
}
