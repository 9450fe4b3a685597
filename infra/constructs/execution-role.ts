import { ArnFormat, Lazy, type Stack } from 'aws-cdk-lib'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { QueueName } from '../../shared/queues/messages.ts'
import { functionName } from '../definitions/function-name.ts'
import type { FunctionRow } from '../definitions/functions.ts'
import {
  calledBy,
  calledFor,
  type Resource,
  type Statement,
  wildcards,
} from '../definitions/iam-statements.ts'
import type { Stage } from '../definitions/stages.ts'
import type { DataStack } from '../stacks/data-stack.ts'
import { suppressNag } from './nag-suppressions.ts'

/** What functions reach, as it is defined. */
type Reached = {
  stage: Pick<Stage, 'name'>
  data: DataStack
  queues: ReadonlyMap<QueueName, Queue>
  schedules: { group: CfnScheduleGroup; role: Role }
  /** The function's own. */
  logGroup: LogGroup
}

/**
 * The role of a function: what permissions.ts says, and nothing that the CDK would add by itself,
 * such as its managed policy for logs or the grants of event sources.
 */
export const defineRole = (
  stack: Stack,
  { name, permissions }: Pick<FunctionRow, 'name' | 'permissions'>,
  reached: Reached,
) => {
  const role = new Role(stack, `${name}-role`, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  })
  for (const statement of [...calledBy(name, permissions), ...calledFor(name, permissions)]) {
    const arn = arnOf(statement.resource, stack, name, reached)
    role.addToPolicy(policyStatement(statement, arn, stack))
  }
  acceptWildcards(role, reached)
  return role.withoutPolicyUpdates()
}

const policyStatement = (
  { actions, keys, via, passedTo }: Statement,
  arn: string,
  { region }: Stack,
): PolicyStatement =>
  new PolicyStatement({
    actions: [...actions],
    resources: [arn],
    conditions: {
      ...(keys ? { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...keys] } } : {}),
      ...(passedTo ? { StringEquals: { 'iam:PassedToService': passedTo } } : {}),
      ...(via
        ? {
            StringEquals: {
              'kms:ViaService': via.map((name) => `${name}.${region}.amazonaws.com`),
            },
          }
        : {}),
    },
  })

/** As the rules spell the resources of a role, once all of it is known. */
const acceptWildcards = (role: Role, { data }: Reached): void => {
  const bucket = data.resolve(data.exportValue(data.reports.bucketArn)) as ImportedValue
  const spelled = {
    'reports/settlements/*/STL-*': `${bucket['Fn::ImportValue']}/settlements/*/STL-*`,
    'reports/ledger/*': `${bucket['Fn::ImportValue']}/ledger/*`,
    'schedules/*':
      'arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/<Schedules>/*',
  } as const satisfies Partial<Record<Resource, string>>
  for (const [resource, name] of Object.entries(spelled)) {
    suppressNag(role, {
      [`IAM5[Resource::${name}]`]: wildcards[resource as keyof typeof spelled] ?? '',
    })
  }
}

type ImportedValue = { 'Fn::ImportValue': string }

/** The first word. */
type Kind<R extends string> = R extends `${infer K}/${string}` ? K : R

const arnOf = (
  resource: Resource,
  stack: Stack,
  name: FunctionRow['name'],
  { stage, data, queues, schedules, logGroup }: Reached,
): string => {
  const [kind = '', ...names] = resource.split('/')
  const within = names.join('/')
  switch (kind as Kind<Resource>) {
    case 'table':
      return data.table.tableArn
    case 'index':
      return `${data.table.tableArn}/index/${within}`
    case 'stream':
      return data.table.tableStreamArn ?? ''
    case 'lost-records':
      // Made with the mapping that fills it, after the function.
      return Lazy.string({
        produce: () => (stack.node.findChild(`${name}-lost-records`) as Queue).queueArn,
      })
    case 'queue':
      return queues.get(within as QueueName)?.queueArn ?? ''
    case 'schedules':
      return stack.formatArn({
        service: 'scheduler',
        resource: 'schedule',
        resourceName: `${schedules.group.ref}/${within}`,
      })
    case 'schedule-role':
      return schedules.role.roleArn
    case 'sealing-key':
      return data.sealingKey.secretArn
    case 'function':
      return stack.formatArn({
        service: 'lambda',
        resource: 'function',
        resourceName: functionName(within, stage.name),
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      })
    case 'reports':
      return within ? data.reports.arnForObjects(within) : data.reports.bucketArn
    case 'key':
      return data.key.keyArn
    case 'log':
      return logGroup.logGroupArn
  }
}
