import { Match } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { gatewayResponses } from '../../infra/definitions/gateway-responses.ts'
import { stageNamed, UnknownStage } from '../../infra/definitions/stages.ts'
import { propertiesOf, templatesOf } from '../support/templates.ts'

const running = templatesOf(stageNamed('production'))
const paused = templatesOf(stageNamed('production', 'true'))

type Templates = typeof paused

const deployments = ({ service }: Templates): string[] =>
  Object.keys(service.findResources('AWS::ApiGateway::Deployment'))

describe('a paused stage', () => {
  test('disables all event sources', () => {
    const states = ({ service }: Templates) =>
      propertiesOf(service, 'AWS::Lambda::EventSourceMapping').map(({ Enabled }) => Enabled)
    expect(new Set(states(running))).toEqual(new Set([true]))
    expect(states(paused)).toEqual(states(running).map(() => false))
  })

  test('disables all recurring schedules', () => {
    const states = ({ service }: Templates) =>
      new Set(propertiesOf(service, 'AWS::Scheduler::Schedule').map(({ State }) => State))
    expect(states(paused)).toEqual(new Set(['DISABLED']))
    expect(states(running)).toEqual(new Set(['ENABLED']))
  })

  test('denies every request at the gateway', () => {
    const [api] = propertiesOf(paused.service, 'AWS::ApiGateway::RestApi')
    const calls = { Action: 'execute-api:Invoke', Resource: 'execute-api:/*' }
    expect(api?.Policy.Statement).toEqual([{ Effect: 'Deny', Principal: { AWS: '*' }, ...calls }])
    const [other] = propertiesOf(running.service, 'AWS::ApiGateway::RestApi')
    expect(other).not.toHaveProperty('Policy')
  })

  test('answers denied requests with 503/1503, and keeps all other responses', () => {
    for (const [type, row] of Object.entries(gatewayResponses)) {
      const { status, code } = type === 'ACCESS_DENIED' ? { status: 503, code: 1503 } : row
      paused.service.hasResourceProperties('AWS::ApiGateway::GatewayResponse', {
        ResponseType: type,
        StatusCode: String(status),
        ResponseTemplates: {
          'application/json': Match.stringLikeRegexp(`"success":false,"error":{"code":${code}`),
        },
        ResponseParameters: Match.objectLike({
          'gatewayresponse.header.X-Request-ID': 'context.requestId',
          ...(status === 503 ? { 'gatewayresponse.header.Retry-After': "'5'" } : {}),
        }),
      })
    }
  })

  test('has a new API deployment, which activates the policy', () => {
    expect(deployments(paused)).toHaveLength(1)
    expect(deployments(paused)).not.toEqual(deployments(running))
  })

  test('keeps functions, queues and data unchanged', () => {
    for (const type of ['AWS::Lambda::Function', 'AWS::SQS::Queue', 'AWS::IAM::Policy']) {
      expect(Object.keys(paused.service.findResources(type)), type).toEqual(
        Object.keys(running.service.findResources(type)),
      )
    }
    expect(paused.data.toJSON()).toEqual(running.data.toJSON())
  })

  test('has no finding of the AWS Solutions rules', () => {
    expect(paused.findings()).toEqual([])
  })
})

test('only the value true pauses a stage', () => {
  expect(stageNamed('sandbox', 'true').paused).toBe(true)
  expect(stageNamed('sandbox', 'false').paused).toBeUndefined()
  expect(stageNamed('sandbox').paused).toBeUndefined()
  expect(() => stageNamed('sandbox', 'yes')).toThrow(UnknownStage)
})
