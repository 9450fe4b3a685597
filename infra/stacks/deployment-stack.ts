import { ArnFormat, CfnOutput, Stack, type StackProps } from 'aws-cdk-lib'
import {
  OidcProviderNative,
  OpenIdConnectPrincipal,
  PolicyStatement,
  Role,
} from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'
import { arnInFindings, suppressNag } from '../constructs/nag-suppressions.ts'
import { resourceName } from '../definitions/resource-name.ts'
import { InvalidStage, type Stage } from '../definitions/stages.ts'

const ISSUER = 'token.actions.githubusercontent.com'
const AUDIENCE = 'sts.amazonaws.com'

/** Roles of `cdk bootstrap`, which publish assets and deploy stacks. */
const bootstrapRoles = ['deploy', 'file-publishing', 'lookup']

/** Nouns of the operator functions that the smoke test calls; it moves money only at the sandbox bank. */
const nouns = ['bank', 'credential', 'customer', 'limit', 'provider', 'reconciliation', 'webhook']
const moneyNouns = ['approval', 'debit', 'exception', 'settlement']

type DeploymentProps = StackProps & {
  stage: Stage
  /** `OWNER/NAME` or `OWNER@ID/NAME@ID`, as in the subject of the repository's OIDC tokens. */
  repository: unknown
  /** Whether the account already has an OIDC provider for GitHub; it can have only one. */
  hasOidcProvider: boolean
}

/** Defines the role with which a repository's workflow deploys a stage and runs the smoke test. */
export class DeploymentStack extends Stack {
  constructor(scope: Construct, id: string, props: DeploymentProps) {
    const { stage, repository, hasOidcProvider, ...stackProps } = props
    super(scope, id, stackProps)
    if (typeof repository !== 'string' || !/^[\w.@-]+\/[\w.@-]+$/.test(repository)) {
      throw new InvalidStage('-c repository must be OWNER/NAME')
    }
    const provider = hasOidcProvider
      ? OidcProviderNative.fromOidcProviderArn(
          this,
          'GitHub',
          this.#iamArn('oidc-provider', ISSUER),
        )
      : new OidcProviderNative(this, 'GitHub', { url: `https://${ISSUER}`, clientIds: [AUDIENCE] })
    const role = new Role(this, 'DeployRole', {
      description: `Deploys stage ${stage.name} from ${repository}`,
      assumedBy: new OpenIdConnectPrincipal(provider, {
        StringEquals: {
          [`${ISSUER}:aud`]: AUDIENCE,
          [`${ISSUER}:sub`]: `repo:${repository}:environment:${stage.name}`,
        },
      }),
    })
    this.#allow(role, ['sts:AssumeRole'], this.#bootstrapRoleArns())
    this.#allowSmokeTest(role, stage)
    new CfnOutput(this, 'DeployRoleArn', { value: role.roleArn })
  }

  #allowSmokeTest(role: Role, stage: Stage): void {
    const all = resourceName('*', stage.name)
    const queues = this.formatArn({ service: 'sqs', resource: all })
    const topics = this.formatArn({ service: 'sns', resource: all })
    const logs = this.#namedArn('logs', 'log-group', all)
    const operatorNouns = stage.hasSandboxBank ? [...nouns, ...moneyNouns] : nouns
    const functions = operatorNouns.map((noun) =>
      this.#namedArn('lambda', 'function', resourceName(`manage-${noun}`, stage.name)),
    )
    const listActions = [
      'cloudformation:DescribeStacks',
      'cloudformation:ListStackResources',
      'lambda:ListEventSourceMappings',
      'lambda:ListFunctions',
    ]
    // A function URL requires both actions; the condition excludes direct invocations.
    this.#allow(role, ['lambda:InvokeFunctionUrl', 'lambda:GetFunctionUrlConfig'], functions)
    this.#allow(role, ['lambda:InvokeFunction'], functions, {
      Bool: { 'lambda:InvokedViaFunctionUrl': 'true' },
    })
    this.#allow(role, ['sqs:GetQueueUrl', 'sqs:GetQueueAttributes'], [queues])
    this.#allow(role, ['sns:GetTopicAttributes'], [topics])
    this.#allow(role, ['logs:FilterLogEvents'], [logs])
    this.#allow(role, listActions, ['*'])
    suppressNag(role, {
      'IAM5[Resource::*]': 'These actions only read, and IAM offers no resource for them',
      [`IAM5[Resource::${arnInFindings(this, queues)}]`]: 'The smoke test reads all queues',
      [`IAM5[Resource::${arnInFindings(this, topics)}]`]: 'The smoke test reads all topics',
      [`IAM5[Resource::${arnInFindings(this, logs)}]`]: 'The smoke test reads all logs',
    })
  }

  #namedArn(service: string, resource: string, name: string): string {
    const arnFormat = ArnFormat.COLON_RESOURCE_NAME
    return this.formatArn({ service, resource, resourceName: name, arnFormat })
  }

  #allow(
    role: Role,
    actions: string[],
    resources: string[],
    conditions: Record<string, unknown> = {},
  ): void {
    role.addToPolicy(new PolicyStatement({ actions, resources, conditions }))
  }

  #bootstrapRoleArns(): string[] {
    const suffix = `${this.account}-${this.region}`
    return bootstrapRoles.map((name) =>
      this.#iamArn('role', `cdk-hnb659fds-${name}-role-${suffix}`),
    )
  }

  #iamArn(resource: string, name: string): string {
    return this.formatArn({ service: 'iam', region: '', resource, resourceName: name })
  }
}
