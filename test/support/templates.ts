import type { App } from 'aws-cdk-lib'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { AwsSolutionsChecks } from 'cdk-nag'
import { expect } from 'vitest'
import type { Stage } from '../../infra/definitions/stages.ts'
import { defineStage } from '../../infra/stacks/stage-stacks.ts'
import { holdError } from './contract.ts'
import { newFolder } from './folders.ts'
import { perProcess } from './per-process.ts'
import { unvalidatedAppIn } from './unvalidated-app.ts'

export const unvalidatedApp = (): App => unvalidatedAppIn(newFolder())

const synthesized = perProcess('templates', () => new Map<string, ReturnType<typeof synthesize>>())

/** Returns the templates of a stage and the findings of the AWS Solutions rules. */
export const templatesOf = (stage: Stage) => {
  const key = JSON.stringify(stage)
  const result = synthesized.get(key) ?? synthesize(stage)
  synthesized.set(key, result)
  return result
}

const synthesize = (stage: Stage) => {
  const app = unvalidatedApp()
  const stacks = defineStage(app, stage)
  const templates = Object.values(stacks).map((stack) => Template.fromStack(stack))
  const merged = (part: string) => Object.assign({}, ...templates.map((one) => one.toJSON()[part]))
  return {
    stacks,
    templates,
    data: Template.fromStack(stacks.data),
    /** All templates of the stage as one. */
    all: Template.fromJSON({ Resources: merged('Resources'), Outputs: merged('Outputs') }),
    findings: () => findingsIn(app),
  }
}

/** Returns the findings of the AWS Solutions rules. */
export const findingsIn = (app: App): string[] =>
  new AwsSolutionsChecks(app)
    .validateScope(app)
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${ruleName} ${constructPath}`),
    )

// biome-ignore lint/suspicious/noExplicitAny: templates have no types
export type TemplateNode = Record<string, any>

/** Returns the properties of all resources of a type. */
export const propertiesOf = (template: Template, type: string): TemplateNode[] =>
  Object.values(template.findResources(type)).map(({ Properties }) => Properties)

/** Checks the envelope and the headers of gateway responses. */
export const expectGatewayResponses = (
  template: Template,
  responses: Record<string, { status: number; code: number }>,
): void => {
  for (const [type, { status, code }] of Object.entries(responses)) {
    const headers = {
      'X-Request-ID': 'context.extendedRequestId',
      'Cache-Control': "'no-store'",
      'Strict-Transport-Security': "'max-age=31536000; includeSubDomains'",
      'X-Content-Type-Options': "'nosniff'",
      ...(status === 401 && { 'WWW-Authenticate': "'Bearer'" }),
      ...(status === 429 && { 'Retry-After': "'1'" }),
      ...(status === 503 && { 'Retry-After': "'5'" }),
    }
    const parameters = Object.entries(headers).map(([name, value]) => [
      `gatewayresponse.header.${name}`,
      value,
    ])
    template.hasResourceProperties('AWS::ApiGateway::GatewayResponse', {
      ResponseType: type,
      StatusCode: String(status),
      ResponseParameters: Object.fromEntries(parameters),
      ResponseTemplates: {
        'application/json': Match.stringLikeRegexp(`"success":false,"error":{"code":${code}`),
      },
    })
  }
  template.resourceCountIs('AWS::ApiGateway::GatewayResponse', Object.keys(responses).length)
  for (const response of propertiesOf(template, 'AWS::ApiGateway::GatewayResponse')) {
    const body = JSON.parse(rendered(response.ResponseTemplates['application/json']))
    holdError(response.ResponseType, body)
    expect(body.meta.request_id).toBe(variables['context.extendedRequestId'])
  }
}

/** The values of API Gateway's variables, in the form that AWS documents. */
const variables: Record<string, string> = {
  'context.extendedRequestId': 'JHbGLHXXoAMF1Tw=',
  'context.requestId': 'd6de4e0e-bbfb-4f4c-9d8f-0d0a52a4f6c1',
  'context.requestTime': '22/Nov/2026:00:15:56 +0000',
  'context.requestTimeEpoch': '1795306556000',
}

const rendered = (text: string): string =>
  text.replaceAll(/\$([\w.]+)/g, (_, name: string) => variables[name] ?? '')
