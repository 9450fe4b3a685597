import { Match } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { addressLimit } from '../../infra/constructs/waf.ts'
import { functionRows } from '../../infra/definitions/functions.ts'
import { gatewayResponses } from '../../infra/definitions/gateway-responses.ts'
import { jobRow } from '../../infra/definitions/jobs.ts'
import { functionsOf, jobsOf } from '../../infra/definitions/stage-resources.ts'
import { type Stage, stageNamed, stageNames } from '../../infra/definitions/stages.ts'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { errors } from '../../shared/domain/refusal.ts'
import { propertiesOf, type TemplateNode, templatesOf } from '../support/templates.ts'

/** A stage with the settings that the defined stages leave out. */
const customStage: Stage = {
  ...stageNamed('sandbox'),
  name: 'custom',
  hasFirewall: false,
  domain: {
    name: 'api.example.com',
    certificateArn: 'arn:aws:acm:eu-west-1:111111111111:certificate/c',
    zone: { id: 'Z1', name: 'example.com' },
  },
  alarmsTo: 'ops@example.com',
}
const stages: Record<string, Stage> = {
  sandbox: stageNamed('sandbox'),
  production: stageNamed('production'),
  custom: customStage,
}
const templates = Object.fromEntries(
  Object.entries(stages).map(([name, stage]) => [name, templatesOf(stage)]),
)
const templatesNamed = (name: string) => {
  const stage = templates[name]
  if (!stage) throw new Error(`No stage ${name}`)
  return stage
}

const lambda = (stage: string, name: string): TemplateNode => {
  const functions = propertiesOf(templatesNamed(stage).service, 'AWS::Lambda::Function')
  const resource = functions.find(({ FunctionName }) => FunctionName.endsWith(`-${name}`))
  if (!resource) throw new Error(`No function ${name}`)
  return resource
}

const variablesOf = (stage: string, name: string): TemplateNode =>
  lambda(stage, name).Environment.Variables

const names = Object.keys(stages)

test.each(names)('%s has no finding of the AWS Solutions rules', (name) => {
  expect(templatesNamed(name).findings()).toEqual([])
})

test.each(names)('%s stays well below the limit of 500 resources per stack', (name) => {
  const { data, service } = templatesNamed(name)
  for (const [stack, template] of Object.entries({ data, service })) {
    const { length } = Object.keys(template.toJSON().Resources)
    expect(length, `${length} resources in ${stack}`).toBeLessThan(475)
  }
})

test.each([
  // stage, rate, burst, days of logs, removal policy, deletion protection
  ['sandbox', 100, 200, 30, 'Delete', false],
  ['production', 1_000, 2_000, 365, 'Retain', true],
])(
  '%s admits %i requests a second and bursts of %i, keeps logs %i days, data: %s',
  (name, perSecond, burst, days, policy, isProtected) => {
    const { data, service } = templatesNamed(name)
    const settings = { ThrottlingRateLimit: perSecond, ThrottlingBurstLimit: burst }
    const [api] = propertiesOf(service, 'AWS::ApiGateway::Stage')
    expect(api?.MethodSettings).toMatchObject([
      { HttpMethod: '*', ResourcePath: '/*', DataTraceEnabled: false, ...settings },
      // The method settings of charge repeat the general ones.
      { HttpMethod: 'POST', MetricsEnabled: true, ...settings },
    ])
    const logGroup = { DeletionPolicy: policy, Properties: { RetentionInDays: days } }
    service.allResources('AWS::Logs::LogGroup', logGroup)
    for (const type of ['AWS::KMS::Key', 'AWS::DynamoDB::GlobalTable', 'AWS::S3::Bucket']) {
      data.allResources(type, { DeletionPolicy: policy })
    }
    data.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [Match.objectLike({ DeletionProtectionEnabled: isProtected })],
    })
  },
)

describe('the sandbox bank', () => {
  test.each([
    ['sandbox', true],
    ['production', false],
  ])('exists in %s: %s', (name, exists) => {
    const names = functionsOf(stageNamed(name)).map((row) => row.name)
    expect(names.includes('report-sandbox-outcome')).toBe(exists)
    const variables = variablesOf(name, 'submit-to-bank')
    expect('QUEUE_URL_SANDBOX_OUTCOMES' in variables).toBe(exists)
    for (const row of names) {
      expect(variablesOf(name, row).SANDBOX_BANK, row).toBe(exists ? 'true' : undefined)
    }
    const template = JSON.stringify(templatesNamed(name).service.toJSON())
    expect(template.includes('sandbox-outcomes')).toBe(exists)
  })

  test('is the only part that production lacks', () => {
    const names = functionsOf(stageNamed('production')).map(({ name }) => name)
    const missing = functionRows.map(({ name }) => name).filter((name) => !names.includes(name))
    expect(missing).toEqual(['report-sandbox-outcome'])
  })
})

describe('approvals', () => {
  test.each([
    ['sandbox', undefined],
    ['production', 'true'],
  ])('set APPROVALS in every function of %s to %s', (name, value) => {
    for (const row of functionsOf(stageNamed(name))) {
      expect(variablesOf(name, row.name).APPROVALS, row.name).toBe(value)
    }
  })

  test('invoke functions of the same stage', () => {
    const { FUNCTION_PREFIX } = variablesOf('production', 'manage-approval')
    expect(FUNCTION_PREFIX).toBe('debit-collection-production-')
    expect(variablesOf('production', 'manage-debit')).not.toHaveProperty('FUNCTION_PREFIX')
  })
})

describe('concurrency', () => {
  const behindGateway = [...operationNames, 'answer-unmatched']
  const reserved = (stage: string) =>
    functionsOf(stageNamed(stage)).map(({ name }) => ({
      name,
      workers: lambda(stage, name).ReservedConcurrentExecutions,
    }))
  const consumers = (stage: string): number[] =>
    propertiesOf(templatesNamed(stage).service, 'AWS::Lambda::EventSourceMapping').flatMap(
      ({ ScalingConfig }) => ScalingConfig?.MaximumConcurrency ?? [],
    )
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

  test('is reserved in production for exactly the functions behind the gateway', () => {
    const rows = reserved('production').filter(({ workers }) => workers !== undefined)
    expect(rows.map(({ name }) => name).sort()).toEqual([...behindGateway].sort())
    const byName = Object.fromEntries(rows.map(({ name, workers }) => [name, workers]))
    expect(byName).toMatchObject({ charge: 200, 'get-debit-request': 100, 'list-banks': 15 })
  })

  test("stays below the account's quota of 1,000, including jobs", () => {
    const total = sum(reserved('production').map(({ workers }) => workers ?? 0))
    // AWS keeps 100 unreserved; the relay uses one per shard.
    expect(1_000 - total - sum(consumers('production'))).toBeGreaterThan(150)
  })

  test('is not reserved in a sandbox, and at most five per queue', () => {
    expect(reserved('sandbox').filter(({ workers }) => workers !== undefined)).toEqual([])
    expect(Math.max(...consumers('sandbox'))).toBe(5)
    expect(Math.min(...consumers('sandbox'))).toBeGreaterThanOrEqual(2)
  })

  test("equals the job's setting for each queue in production", () => {
    const expected = jobsOf(stageNamed('production')).flatMap((name) => {
      const { from } = jobRow(name)
      return 'queues' in from ? from.queues.map(() => from.maxConcurrency) : []
    })
    expect(consumers('production').sort()).toEqual(expected.sort())
  })
})

describe('the host of the API', () => {
  test("is the gateway's own without a domain", () => {
    const { service } = templatesNamed('production')
    const [api] = Object.keys(service.findResources('AWS::ApiGateway::RestApi'))
    service.hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: false })
    service.resourceCountIs('AWS::ApiGateway::DomainName', 0)
    const suffix = ['.execute-api.', { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }]
    for (const name of ['test-webhook', 'deliver-webhook', 'manage-webhook']) {
      expect(variablesOf('production', name).OWN_HOSTS).toEqual({
        'Fn::Join': ['', [{ Ref: api }, ...suffix]],
      })
    }
  })

  test('is only the domain if there is one, with TLS 1.2 and DNS records', () => {
    const { service } = templatesNamed('custom')
    service.hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: true })
    service.hasResourceProperties('AWS::ApiGateway::DomainName', {
      DomainName: 'api.example.com',
      RegionalCertificateArn: customStage.domain?.certificateArn,
      SecurityPolicy: 'TLS_1_2',
      EndpointConfiguration: { Types: ['REGIONAL'] },
    })
    for (const Type of ['A', 'AAAA']) {
      const record = { Type, Name: 'api.example.com.', HostedZoneId: 'Z1' }
      service.hasResourceProperties('AWS::Route53::RecordSet', record)
    }
    expect(variablesOf('custom', 'deliver-webhook').OWN_HOSTS).toBe('api.example.com')
  })
})

describe('the firewall', () => {
  const aclOf = (stage: string): TemplateNode =>
    propertiesOf(templatesNamed(stage).service, 'AWS::WAFv2::WebACL')[0] ?? {}

  test('protects the API unless the stage disables it', () => {
    for (const name of stageNames) {
      templatesNamed(name).service.hasResourceProperties('AWS::WAFv2::WebACLAssociation', {
        ResourceArn: {
          'Fn::Join': ['', Match.arrayWith([{ Ref: Match.stringLikeRegexp('^Api') }])],
        },
      })
    }
    templatesNamed('custom').service.resourceCountIs('AWS::WAFv2::WebACL', 0)
  })

  test.each([
    ['production', 8_020],
    ['sandbox', 3_420],
  ])('%s: an address receives 429/1453 above %i requests a minute', (name, limit) => {
    const { Rules, CustomResponseBodies } = aclOf(name)
    expect(Rules[0]).toMatchObject({
      Priority: 0,
      Statement: { RateBasedStatement: { Limit: limit, EvaluationWindowSec: 60 } },
      Action: {
        Block: {
          CustomResponse: {
            ResponseCode: errors[1453].http,
            CustomResponseBodyKey: 'address-limit',
            ResponseHeaders: [
              { Name: 'Cache-Control', Value: 'no-store' },
              { Name: 'Strict-Transport-Security', Value: 'max-age=31536000; includeSubDomains' },
              { Name: 'X-Content-Type-Options', Value: 'nosniff' },
              { Name: 'Retry-After', Value: '60' },
            ],
          },
        },
      },
    })
    const { message, category, severity } = errors[1453]
    const details = { limit, period: 'minute', retry_after: 60 }
    const { ContentType, Content } = CustomResponseBodies['address-limit']
    expect(ContentType).toBe('APPLICATION_JSON')
    expect(JSON.parse(Content)).toEqual({
      success: false,
      error: { code: 1453, message, category, severity, details },
      details,
      meta: { timestamp: null, request_id: null, api_version: 'v1' },
    })
  })

  test.each(['provider', 'bank'])('never limits a %s within the published limits', (name) => {
    const most = operationNames
      .map((operation) => operations[operation])
      .filter(({ caller }) => caller === name)
      .reduce((sum, { limit }) => {
        const { production } = 'perCaller' in limit ? limit.perCaller : limit
        return sum + production
      }, 0)
    expect(addressLimit({ name: 'production' })).toBeGreaterThan(most)
  })

  test('uses the address limit of the stage if there is one', () => {
    expect(addressLimit({ name: 'production', addressLimit: 50_000 })).toBe(50_000)
  })

  test('only counts matches in paths and bodies, and blocks all others', () => {
    const groups: TemplateNode[] = aclOf('production').Rules.slice(1)
    expect(groups.map(({ Name }) => Name)).toEqual([
      'AWSManagedRulesAmazonIpReputationList',
      'AWSManagedRulesCommonRuleSet',
      'AWSManagedRulesKnownBadInputsRuleSet',
    ])
    for (const { OverrideAction, Statement } of groups) {
      expect(OverrideAction).toEqual({ None: {} })
      for (const { Name, ActionToUse } of Statement.ManagedRuleGroupStatement.RuleActionOverrides) {
        expect(Name).toMatch(/_(?:BODY|URIPATH)$|^NoUserAgent_HEADER$/)
        expect(ActionToUse).toEqual({ Count: {} })
      }
    }
    expect(JSON.stringify(groups)).toContain('SizeRestrictions_BODY')
  })

  test('answers blocked requests with 403/1403', () => {
    expect(gatewayResponses.WAF_FILTERED).toEqual({ status: 403, code: 1403 })
  })

  test('takes no samples of requests, which contain credentials', () => {
    expect(JSON.stringify(aclOf('production'))).not.toContain('"SampledRequestsEnabled":true')
  })
})
