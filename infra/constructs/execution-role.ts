import { ArnFormat, Lazy, type Stack } from 'aws-cdk-lib'
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { QueueName } from '../../shared/queues/messages.ts'
import type { FunctionRow } from '../definitions/functions.ts'
import { type IamResource, wildcardReasons } from '../definitions/iam-resources.ts'
import * as statements from '../definitions/iam-statements.ts'
import { resourceName } from '../definitions/resource-name.ts'
import type { Stage } from '../definitions/stages.ts'
import type { DataStack } from '../stacks/data-stack.ts'
import type { NetworkStack } from '../stacks/network-stack.ts'
import { importInFindings, suppressNag } from './nag-suppressions.ts'
import type { Schedules } from './schedules.ts'

/** The resources that a function uses. */
export type FunctionResources = {
  stage: Stage
  data: DataStack
  /** Host names of the API. */
  hosts: readonly string[]
  queues: ReadonlyMap<QueueName, Queue>
  /** Set in the jobs stack only, whose functions create schedules. */
  schedules?: Schedules
  network?: NetworkStack | undefined
}

type RoleResources = FunctionResources & { logGroup: LogGroup }

/** Defines a function's role from its permissions, without the policies that the CDK would add. */
export const defineRole = (
  stack: Stack,
  { name, permissions }: Pick<FunctionRow, 'name' | 'permissions'>,
  resources: RoleResources,
) => {
  const role = new Role(stack, `${name}-role`, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  })
  const arns = arnsOf(stack, name, resources)
  const roleStatements = statements.roleStatements(name, permissions, resources.stage)
  for (const statement of roleStatements) {
    const [kind = '', ...path] = statement.resource.split('/')
    const arn = arns[kind as keyof typeof arns](path.join('/'))
    role.addToPolicy(policyStatement(statement, arn, stack))
    if (statement.byLambdaOnly) role.addToPolicy(denyCode(arns.function(name), statement))
  }
  suppressWildcards(role, roleStatements, resources)
  return role.withoutPolicyUpdates()
}

const policyStatement = (
  { effect, actions, keys, via, passedTo }: statements.IamStatement,
  arn: string,
  { region }: Stack,
): PolicyStatement =>
  new PolicyStatement({
    ...(effect && { effect: Effect.DENY }),
    actions: [...actions],
    resources: [arn],
    conditions: {
      ...(keys && { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...keys] } }),
      ...(passedTo && { StringEquals: { 'iam:PassedToService': passedTo } }),
      ...(via && { StringEquals: { 'kms:ViaService': `${via}.${region}.amazonaws.com` } }),
    },
  })

/** Denies calls by the function's code; Lambda's own calls with the role have no source function. */
const denyCode = (functionArn: string, { actions }: statements.IamStatement): PolicyStatement =>
  new PolicyStatement({
    effect: Effect.DENY,
    actions: [...actions],
    resources: ['*'],
    conditions: { ArnEquals: { 'lambda:SourceFunctionArn': functionArn } },
  })

/** Suppresses findings for wildcards; findings name resources in the rules' own notation. */
const suppressWildcards = (
  role: Role,
  roleStatements: readonly statements.IamStatement[],
  { data, stage }: RoleResources,
): void => {
  const { account = '<AWS::AccountId>', region = '<AWS::Region>' } = stage
  const schedules = `arn:<AWS::Partition>:scheduler:${region}:${account}:schedule/<Schedules>/*`
  const findingOf = (resource: IamResource): string | undefined => {
    // Its construct has no wildcard of its own.
    if (resource === 'log') return undefined
    const [kind, ...path] = resource.split('/')
    if (kind === 'reports' || kind === 'audit')
      return [importInFindings(data, data[kind].bucketArn), ...path].join('/')
    return kind === 'schedules' ? schedules : '*'
  }
  for (const { resource } of roleStatements) {
    const [finding, reason] = [findingOf(resource), wildcardReasons[resource]]
    if (finding && reason) suppressNag(role, { [`IAM5[Resource::${finding}]`]: reason })
  }
}

type ResourceKind<R extends string> = R extends `${infer K}/${string}` ? K : R

/** Returns the ARNs by kind of resource; some kinds contain many, such as `queue/refunds`. */
const arnsOf = (
  stack: Stack,
  functionOfRole: string,
  { stage, data, queues, schedules, logGroup }: RoleResources,
): Record<ResourceKind<IamResource>, (path: string) => string> => ({
  table: () => data.table.tableArn,
  index: (name) => `${data.table.tableArn}/index/${name}`,
  stream: () => data.table.tableStreamArn ?? '',
  'lost-records': () => {
    // Defined after the function, together with its event source.
    const queue = () => stack.node.findChild(`${functionOfRole}-lost-records`) as Queue
    return Lazy.string({ produce: () => queue().queueArn })
  },
  queue: (name) =>
    queues.get(name as QueueName)?.queueArn ??
    stack.formatArn({ service: 'sqs', resource: resourceName(name, stage.name) }),
  schedules: (name) => {
    const path = `${schedules?.group.ref}/${name}`
    return stack.formatArn({ service: 'scheduler', resource: 'schedule', resourceName: path })
  },
  'schedule-role': () => schedules?.role.roleArn ?? '',
  'sealing-key': () => data.sealingKey.secretArn,
  'client-certificate': () => stage.bankClientCertificate?.secretArn ?? '',
  'client-certificate-key': () => stage.bankClientCertificate?.keyArn ?? '',
  'network-interfaces': () => '*',
  function: (name) =>
    stack.formatArn({
      service: 'lambda',
      resource: 'function',
      resourceName: resourceName(name, stage.name),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    }),
  reports: (path) => (path ? data.reports.arnForObjects(path) : data.reports.bucketArn),
  audit: (path) => (path ? data.audit.arnForObjects(path) : data.audit.bucketArn),
  key: () => data.key.keyArn,
  log: () => logGroup.logGroupArn,
  '*': () => '*',
})
