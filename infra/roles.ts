import { Lazy, type Stack } from 'aws-cdk-lib'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { QueueName } from '../shared/queues/messages.ts'
import type { DataStack } from './data-stack.ts'
import type { FunctionName } from './functions.ts'
import { calledBy, calledFor, type Resource, type Statement } from './statements.ts'

/** What functions reach, as it is defined. */
type Reached = {
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
export const defineRole = (stack: Stack, name: FunctionName, reached: Reached) => {
  const role = new Role(stack, `${name}-role`, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  })
  for (const statement of [...calledBy(name), ...calledFor(name)]) {
    role.addToPolicy(policyStatement(statement, arnOf(statement.resource, stack, name, reached)))
  }
  return role.withoutPolicyUpdates()
}

const policyStatement = ({ actions, keys, passedTo }: Statement, arn: string): PolicyStatement =>
  new PolicyStatement({
    actions: [...actions],
    resources: [arn],
    conditions: {
      ...(keys ? { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...keys] } } : {}),
      ...(passedTo ? { StringEquals: { 'iam:PassedToService': passedTo } } : {}),
    },
  })

/** The first word. */
type Kind<R extends string> = R extends `${infer K}/${string}` ? K : R

const arnOf = (
  resource: Resource,
  stack: Stack,
  name: FunctionName,
  { data, queues, schedules, logGroup }: Reached,
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
    case 'reports':
      return data.reports.arnForObjects(within)
    case 'log':
      return logGroup.logGroupArn
  }
}
