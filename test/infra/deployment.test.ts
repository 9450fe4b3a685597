import { globSync, readFileSync } from 'node:fs'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { expect, test } from 'vitest'
import { InvalidStage, type Stage, stageNamed } from '../../infra/definitions/stages.ts'
import { defineDeployment } from '../../infra/stacks/stage-stacks.ts'
import {
  findingsIn,
  propertiesOf,
  type TemplateNode,
  unvalidatedApp,
} from '../support/templates.ts'

const place = { account: '111111111111', region: 'eu-west-1' }
const stages: Record<string, Stage> = {
  sandbox: stageNamed('sandbox'),
  production: stageNamed('production'),
  pinned: { ...stageNamed('production'), ...place },
}

const deploymentOf = (stage: Stage, repository: unknown = 'acme/debits', hasProvider = false) => {
  const app = unvalidatedApp()
  const template = Template.fromStack(defineDeployment(app, stage, repository, hasProvider))
  return { app, template }
}

const statementsOf = ({ template }: { template: Template }): TemplateNode[] =>
  propertiesOf(template, 'AWS::IAM::Policy')[0]?.PolicyDocument.Statement

/** Returns the end of each ARN that a statement with the action names. */
const resourcesFor = (action: string, deployment: { template: Template }): string[] => {
  const statement = statementsOf(deployment).find(({ Action }) => [Action].flat().includes(action))
  return [statement?.Resource].flat().map((arn) => {
    const text = arn['Fn::Join']?.[1].map((part: unknown) => (typeof part === 'string' ? part : ''))
    return text ? text.join('').split(/[:/]/).at(-1) : arn
  })
}

test.each(Object.entries(stages))('the deployment stack of %s has no finding', (_, stage) => {
  expect(findingsIn(deploymentOf(stage).app)).toEqual([])
})

test.each(['acme/debits', 'acme@1234/debits@5678'])(
  'only jobs of %s in the environment of the stage may assume the role',
  (repository) => {
    const { template } = deploymentOf(stages.production as Stage, repository)
    const [role, ...others] = propertiesOf(template, 'AWS::IAM::Role')
    const issuer = 'token.actions.githubusercontent.com'
    expect(others).toEqual([])
    expect(role?.AssumeRolePolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Action: 'sts:AssumeRoleWithWebIdentity',
        Principal: { Federated: { Ref: expect.stringMatching(/^GitHub/) } },
        Condition: {
          StringEquals: {
            [`${issuer}:aud`]: 'sts.amazonaws.com',
            [`${issuer}:sub`]: `repo:${repository}:environment:production`,
          },
        },
      },
    ])
  },
)

test.each([true, '', 'debits', 'acme/*', 'acme/debits:ref', 'acme/debits/x'])(
  'the text %j is not accepted as a repository',
  (repository) => {
    expect(() => deploymentOf(stages.sandbox as Stage, repository)).toThrow(InvalidStage)
  },
)

test('the role can use an OIDC provider that exists', () => {
  const { template } = deploymentOf(stages.pinned as Stage, 'acme/debits', true)
  template.resourceCountIs('AWS::IAM::OIDCProvider', 0)
  const Federated = Match.objectLike({
    'Fn::Join': ['', Match.arrayWith([Match.stringLikeRegexp('111111111111:oidc-provider/token')])],
  })
  template.hasResourceProperties('AWS::IAM::Role', {
    AssumeRolePolicyDocument: { Statement: [Match.objectLike({ Principal: { Federated } })] },
  })
})

test('the role may assume the roles of cdk bootstrap and no others', () => {
  expect(resourcesFor('sts:AssumeRole', deploymentOf(stages.pinned as Stage))).toEqual([
    'cdk-hnb659fds-deploy-role-111111111111-eu-west-1',
    'cdk-hnb659fds-file-publishing-role-111111111111-eu-west-1',
    'cdk-hnb659fds-lookup-role-111111111111-eu-west-1',
  ])
})

test('the role may invoke all functions that the smoke test calls in a stage with the sandbox bank', () => {
  const source = globSync('commands/smoke/*.ts').map((file) => readFileSync(file, 'utf8'))
  const calls = source.join('\n').matchAll(/operator(?:<.*>)?\(\s*'([a-z]+)'/g)
  const used = [...calls].map(([, noun]) => `debit-collection-sandbox-manage-${noun}`)
  const allowed = resourcesFor('lambda:InvokeFunction', deploymentOf(stageNamed('sandbox')))
  expect(used.length).toBeGreaterThan(10)
  expect(used.filter((name) => !allowed.includes(name))).toEqual([])
  const deployment = deploymentOf(stageNamed('sandbox'))
  expect(resourcesFor('lambda:InvokeFunctionUrl', deployment)).toEqual(allowed)
  expect(resourcesFor('lambda:GetFunctionUrlConfig', deployment)).toEqual(allowed)
  expect(JSON.stringify(deployment.template.toJSON())).toContain(
    '"Bool":{"lambda:InvokedViaFunctionUrl":"true"}',
  )
})

test('the role can neither grant approvals nor move money in production', () => {
  const functions = (name: string) =>
    resourcesFor('lambda:InvokeFunction', deploymentOf(stageNamed(name))).map((arn) =>
      arn.replace(`debit-collection-${name}-manage-`, ''),
    )
  const common = ['bank', 'credential', 'customer', 'limit', 'provider', 'reconciliation']
  expect(functions('production')).toEqual([...common, 'webhook'])
  const money = ['approval', 'debit', 'exception', 'settlement']
  expect(functions('sandbox')).toEqual([...common, 'webhook', ...money])
})

test('all resources of services that the role may use belong to its stage', () => {
  const deployment = deploymentOf(stageNamed('sandbox'))
  for (const action of ['sqs:GetQueueUrl', 'sns:GetTopicAttributes', 'logs:FilterLogEvents']) {
    expect(resourcesFor(action, deployment)).toEqual(['debit-collection-sandbox-*'])
  }
})
