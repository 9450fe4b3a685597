import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Stage } from '../../../infra/definitions/stages.ts'
import { defineStage } from '../../../infra/stacks/stage-stacks.ts'
import type { TemplateNode } from '../templates.ts'
import { unvalidatedAppIn } from '../unvalidated-app.ts'
import { resolveTemplates } from './resolve-templates.ts'

export type DeployedStage = ReturnType<typeof deployedStage>

/** Returns the names and the templates of the stacks of a stage. */
const synthesized = (stage: Stage): [string, TemplateNode][] => {
  const folder = mkdtempSync(join(tmpdir(), 'stage-'))
  try {
    const app = unvalidatedAppIn(folder)
    defineStage(app, stage)
    return app.synth().stacks.map(({ stackName, template }) => [stackName, template])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the functions of a stage's templates, and the policies that decide about their calls. */
export const deployedStage = (stage: Stage) => {
  // The policies have the account and Region of the simulation.
  const { account: _account, region: _region, ...unpinned } = stage
  const resources = resolveTemplates(Object.fromEntries(synthesized(unpinned)))
  const ofType = (type: string) => resources.filter((resource) => resource.type === type)
  const propertiesOf = (type: string) => ofType(type).map(({ properties }) => properties)

  const functions = propertiesOf('AWS::Lambda::Function')
  const resourcePolicies = new Map<string, TemplateNode>([
    ...ofType('AWS::KMS::Key').map(({ arn, properties }) => [arn, properties.KeyPolicy] as const),
    ...ofType('AWS::IAM::Role').map(
      ({ arn, properties }) => [arn, properties.AssumeRolePolicyDocument] as const,
    ),
    ...propertiesOf('AWS::S3::BucketPolicy').map(
      ({ Bucket, PolicyDocument }) => [`arn:aws:s3:::${Bucket}`, PolicyDocument] as const,
    ),
    ...propertiesOf('AWS::SQS::QueuePolicy').flatMap(({ Queues, PolicyDocument }) =>
      Queues.map((url: string) => [queueArn(url), PolicyDocument] as const),
    ),
    ...propertiesOf('AWS::Lambda::Permission').map(
      (permission) => [permission.FunctionName, functionPolicy(permission)] as const,
    ),
  ])
  const policies = propertiesOf('AWS::IAM::Policy')
  const prefix = `debit-collection-${stage.name}-`
  return {
    propertiesOf,
    functionNames: functions
      .map(({ FunctionName }) => String(FunctionName))
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length)),
    arnsOf: (type: string) => ofType(type).map(({ arn }) => arn),
    functionNamed: (name: string): TemplateNode => {
      const found = functions.find(({ FunctionName }) => FunctionName === `${prefix}${name}`)
      if (!found) throw new Error(`No function ${name} in the templates`)
      return found
    },
    /** Returns the policies of a role by its ARN. */
    policiesOf: (role: string) =>
      policies
        .filter(({ Roles }) => Roles.includes(role.split('/').at(-1)))
        .map(({ PolicyName, PolicyDocument }) => ({ name: PolicyName, policy: PolicyDocument })),
    /** Returns the policy of a key, bucket, queue or alias, or the trust policy of a role. */
    resourcePolicyOf: (arn: string): TemplateNode | undefined =>
      resourcePolicies.get(arn.startsWith('arn:aws:s3:::') ? (arn.split('/')[0] ?? '') : arn),
  }
}

/** Lambda turns a permission into a statement of the policy of the function or alias. */
const functionPolicy = ({ Action, Principal, FunctionName, SourceArn }: TemplateNode) => ({
  Version: '2012-10-17',
  Statement: {
    Effect: 'Allow',
    Action,
    Principal: { Service: Principal },
    Resource: FunctionName,
    Condition: { ArnLike: { 'AWS:SourceArn': SourceArn } },
  },
})

/** Returns the ARN of a queue from its URL. */
export const queueArn = (url: string): string => {
  const { host, pathname } = new URL(url)
  const [, account, name] = pathname.split('/')
  return `arn:aws:sqs:${host.split('.')[1]}:${account}:${name}`
}
