import { ArnFormat, Lazy, type Stack } from 'aws-cdk-lib'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { QueueName } from '../../shared/queues/messages.ts'
import { functionName } from '../definitions/function-name.ts'
import type { FunctionRow } from '../definitions/functions.ts'
import * as statements from '../definitions/iam-statements.ts'
import type { Stage } from '../definitions/stages.ts'
import type { DataStack } from '../stacks/data-stack.ts'
import { suppressNag } from './nag-suppressions.ts'

type RoleResources = {
  stage: Pick<Stage, 'name'>
  data: DataStack
  queues: ReadonlyMap<QueueName, Queue>
  schedules: { group: CfnScheduleGroup; role: Role }
  logGroup: LogGroup
}

/** Defines a function's role from its permissions, without the policies that the CDK would add. */
export const defineRole = (
  stack: Stack,
  { name, permissions }: Pick<FunctionRow, 'name' | 'permissions'>,
  resources: RoleResources,
) => {
  const role = new Role(stack, `${name}-role`, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  })
  for (const statement of [
    ...statements.codeStatements(name, permissions),
    ...statements.platformStatements(name, permissions),
  ]) {
    const arn = arnOf(statement.resource, stack, name, resources)
    role.addToPolicy(policyStatement(statement, arn, stack))
  }
  suppressWildcards(role, resources)
  return role.withoutPolicyUpdates()
}

const policyStatement = (
  { actions, keys, via, passedTo }: statements.IamStatement,
  arn: string,
  { region }: Stack,
): PolicyStatement =>
  new PolicyStatement({
    actions: [...actions],
    resources: [arn],
    conditions: {
      ...(keys && { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...keys] } }),
      ...(passedTo && { StringEquals: { 'iam:PassedToService': passedTo } }),
      ...(via && {
        StringEquals: { 'kms:ViaService': via.map((name) => `${name}.${region}.amazonaws.com`) },
      }),
    },
  })

/** Suppresses findings for wildcards; findings name resources in the rules' own notation. */
const suppressWildcards = (role: Role, { data }: RoleResources): void => {
  const bucket = data.resolve(data.exportValue(data.reports.bucketArn)) as ImportedValue
  const findings = {
    'reports/settlements/*/STL-*': `${bucket['Fn::ImportValue']}/settlements/*/STL-*`,
    'reports/ledger/*': `${bucket['Fn::ImportValue']}/ledger/*`,
    'schedules/*':
      'arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/<Schedules>/*',
  } as const satisfies Partial<Record<statements.IamResource, string>>
  for (const [resource, finding] of Object.entries(findings)) {
    const reason = statements.wildcardReasons[resource as keyof typeof findings] ?? ''
    suppressNag(role, { [`IAM5[Resource::${finding}]`]: reason })
  }
}

type ImportedValue = { 'Fn::ImportValue': string }

type ResourceKind<R extends string> = R extends `${infer K}/${string}` ? K : R

const arnOf = (
  resource: statements.IamResource,
  stack: Stack,
  name: FunctionRow['name'],
  { stage, data, queues, schedules, logGroup }: RoleResources,
): string => {
  const [kind = '', ...path] = resource.split('/')
  const rest = path.join('/')
  switch (kind as ResourceKind<statements.IamResource>) {
    case 'table':
      return data.table.tableArn
    case 'index':
      return `${data.table.tableArn}/index/${rest}`
    case 'stream':
      return data.table.tableStreamArn ?? ''
    case 'lost-records':
      // Defined after the function, together with its event source.
      return Lazy.string({
        produce: () => (stack.node.findChild(`${name}-lost-records`) as Queue).queueArn,
      })
    case 'queue':
      return queues.get(rest as QueueName)?.queueArn ?? ''
    case 'schedules':
      return stack.formatArn({
        service: 'scheduler',
        resource: 'schedule',
        resourceName: `${schedules.group.ref}/${rest}`,
      })
    case 'schedule-role':
      return schedules.role.roleArn
    case 'sealing-key':
      return data.sealingKey.secretArn
    case 'function':
      return stack.formatArn({
        service: 'lambda',
        resource: 'function',
        resourceName: functionName(rest, stage.name),
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      })
    case 'reports':
      return rest ? data.reports.arnForObjects(rest) : data.reports.bucketArn
    case 'key':
      return data.key.keyArn
    case 'log':
      return logGroup.logGroupArn
  }
}
