import { expect, test } from 'vitest'
import { stageNamed, UnknownStage } from '../../infra/definitions/stages.ts'
import { propertiesOf, templatesOf } from '../support/templates.ts'

const running = templatesOf(stageNamed('production'))
const paused = templatesOf(stageNamed('production', 'true'))

test.each([
  ['AWS::Lambda::EventSourceMapping', 'Enabled', true, false],
  ['AWS::Scheduler::Schedule', 'State', 'ENABLED', 'DISABLED'],
])('a paused stage disables every %s', (type, member, enabled, disabled) => {
  const states = (templates: typeof paused) =>
    propertiesOf(templates.service, type).map((properties) => properties[member])
  expect(new Set(states(running))).toEqual(new Set([enabled]))
  expect(states(paused)).toEqual(states(running).map(() => disabled))
})

test('a paused stage denies every request at the gateway, in a new deployment', () => {
  const [api] = propertiesOf(paused.service, 'AWS::ApiGateway::RestApi')
  const calls = { Action: 'execute-api:Invoke', Resource: 'execute-api:/*' }
  expect(api?.Policy.Statement).toEqual([{ Effect: 'Deny', Principal: { AWS: '*' }, ...calls }])
  const [other] = propertiesOf(running.service, 'AWS::ApiGateway::RestApi')
  expect(other).not.toHaveProperty('Policy')
  const deployments = [paused, running].map(({ service }) =>
    Object.keys(service.findResources('AWS::ApiGateway::Deployment')),
  )
  expect(new Set(deployments.flat()).size).toBe(2)
})

test('a paused stage answers denied requests with 503/1503, and keeps all other responses', () => {
  const responses = ({ service }: typeof paused) =>
    propertiesOf(service, 'AWS::ApiGateway::GatewayResponse')
  const isDenied = ({ ResponseType }: { ResponseType?: string }) => ResponseType === 'ACCESS_DENIED'
  const others = (templates: typeof paused) => responses(templates).filter((one) => !isDenied(one))
  expect(others(paused)).toEqual(others(running))
  expect(responses(paused).find(isDenied)).toMatchObject({
    StatusCode: '503',
    ResponseTemplates: {
      'application/json': expect.stringContaining('"success":false,"error":{"code":1503'),
    },
    ResponseParameters: {
      'gatewayresponse.header.X-Request-ID': 'context.requestId',
      'gatewayresponse.header.Retry-After': "'5'",
    },
  })
})

test('a paused stage keeps functions, queues and data, without a finding of AWS Solutions', () => {
  for (const type of ['AWS::Lambda::Function', 'AWS::SQS::Queue', 'AWS::IAM::Policy']) {
    const [ids, expected] = [paused, running].map(({ service }) => service.findResources(type))
    expect(Object.keys(ids ?? {}), type).toEqual(Object.keys(expected ?? {}))
  }
  expect(paused.data.toJSON()).toEqual(running.data.toJSON())
  expect(paused.findings()).toEqual([])
})

test('only the value true pauses a stage', () => {
  const paused = ['true', 'false', undefined].map((value) => stageNamed('sandbox', value).paused)
  expect(paused).toEqual([true, undefined, undefined])
  expect(() => stageNamed('sandbox', 'yes')).toThrow(UnknownStage)
})
