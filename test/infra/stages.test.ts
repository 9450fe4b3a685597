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
import { templatesOf } from '../support/templates.ts'

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

type Properties = Record<string, never> & {
  FunctionName: string
  Environment: { Variables: Record<string, unknown> }
  ReservedConcurrentExecutions?: number
}

const lambda = (stage: string, name: string): Properties => {
  const functions = Object.values(
    templatesNamed(stage).service.findResources('AWS::Lambda::Function'),
  )
  const resource = functions.find(({ Properties }) => Properties.FunctionName.endsWith(`-${name}`))
  if (!resource) throw new Error(`No function ${name}`)
  return resource.Properties
}

const names = Object.keys(stages)

test.each(names)('%s has no finding of the AWS Solutions rules', (name) => {
  expect(templatesNamed(name).findings()).toEqual([])
})

test.each(names)('%s stays well below the limit of 500 resources per stack', (name) => {
  for (const [stack, template] of Object.entries(templatesNamed(name)).slice(0, 2)) {
    const count = Object.keys(
      (template as ReturnType<typeof templatesNamed>['service']).toJSON().Resources,
    ).length
    expect(count, `${count} resources in ${stack}`).toBeLessThan(475)
  }
})

test.each([
  // stage, rate, burst, days of logs, removal policy, deletion protection
  ['sandbox', 100, 200, 30, 'Delete', false],
  ['production', 1_000, 2_000, 365, 'Retain', true],
])(
  '%s admits %i requests a second and bursts of %i, keeps logs %i days, data: %s',
  (name, ...row) => {
    const [perSecond, burst, days, policy, isProtected] = row
    const { data, service } = templatesNamed(name)
    const settings = { ThrottlingRateLimit: perSecond, ThrottlingBurstLimit: burst }
    service.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: [
        Match.objectLike({
          HttpMethod: '*',
          ResourcePath: '/*',
          DataTraceEnabled: false,
          ...settings,
        }),
        // The method settings of charge repeat the general ones.
        Match.objectLike({ HttpMethod: 'POST', MetricsEnabled: true, ...settings }),
      ],
    })
    service.allResources('AWS::Logs::LogGroup', {
      DeletionPolicy: policy,
      Properties: { RetentionInDays: days },
    })
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
    const { Variables } = lambda(name, 'submit-to-bank').Environment
    expect('QUEUE_URL_SANDBOX_OUTCOMES' in Variables).toBe(exists)
    for (const row of functionsOf(stageNamed(name))) {
      const variables = lambda(name, row.name).Environment.Variables
      expect(variables.SANDBOX_BANK, row.name).toBe(exists ? 'true' : undefined)
    }
    expect(JSON.stringify(templatesNamed(name).service.toJSON()).includes('sandbox-outcomes')).toBe(
      exists,
    )
  })

  test('is the only part that production lacks', () => {
    const names = functionsOf(stageNamed('production')).map(({ name }) => name)
    expect(functionRows.map(({ name }) => name).filter((name) => !names.includes(name))).toEqual([
      'report-sandbox-outcome',
    ])
  })
})

describe('approvals', () => {
  test.each([
    ['sandbox', undefined],
    ['production', 'true'],
  ])('set APPROVALS in every function of %s to %s', (name, value) => {
    for (const row of functionsOf(stageNamed(name))) {
      expect(lambda(name, row.name).Environment.Variables.APPROVALS, row.name).toBe(value)
    }
  })

  test('invoke functions of the same stage', () => {
    const { FUNCTION_PREFIX } = lambda('production', 'manage-approval').Environment.Variables
    expect(FUNCTION_PREFIX).toBe('debit-collection-production-')
    expect(lambda('production', 'manage-debit').Environment.Variables).not.toHaveProperty(
      'FUNCTION_PREFIX',
    )
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
    Object.values(
      templatesNamed(stage).service.findResources('AWS::Lambda::EventSourceMapping'),
    ).flatMap(({ Properties }) => Properties.ScalingConfig?.MaximumConcurrency ?? [])
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
      expect(lambda('production', name).Environment.Variables.OWN_HOSTS).toEqual({
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
      service.hasResourceProperties('AWS::Route53::RecordSet', {
        Type,
        Name: 'api.example.com.',
        HostedZoneId: 'Z1',
      })
    }
    expect(lambda('custom', 'deliver-webhook').Environment.Variables.OWN_HOSTS).toBe(
      'api.example.com',
    )
  })
})

describe('the firewall', () => {
  const rulesOf = (stage: string) => {
    const [acl] = Object.values(templatesNamed(stage).service.findResources('AWS::WAFv2::WebACL'))
    return { ...acl?.Properties, rules: acl?.Properties.Rules as Record<string, never>[] }
  }

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
    const { rules, CustomResponseBodies } = rulesOf(name) as ReturnType<typeof rulesOf> & {
      CustomResponseBodies: Record<string, { Content: string; ContentType: string }>
    }
    expect(rules[0]).toMatchObject({
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
    expect(CustomResponseBodies['address-limit']?.ContentType).toBe('APPLICATION_JSON')
    expect(JSON.parse(CustomResponseBodies['address-limit']?.Content ?? '')).toEqual({
      success: false,
      error: { code: 1453, message, category, severity, details },
      details,
      meta: { timestamp: null, request_id: null, api_version: 'v1' },
    })
  })

  test('never limits a provider within the published limits', () => {
    const most = operationNames
      .map((name) => operations[name])
      .filter(({ caller }) => caller === 'provider')
      .reduce((sum, { limit }) => {
        const { production } = 'perCaller' in limit ? limit.perCaller : limit
        return sum + production
      }, 0)
    expect(addressLimit({ name: 'production' })).toBeGreaterThan(most)
  })

  test('never limits a bank token within the published limits', () => {
    const most = operationNames
      .map((name) => operations[name])
      .filter(({ caller }) => caller === 'bank')
      .reduce((sum, { limit }) => sum + limit.production, 0)
    expect(addressLimit({ name: 'production' })).toBeGreaterThan(most)
  })

  test('uses the address limit of the stage if there is one', () => {
    expect(addressLimit({ name: 'production', addressLimit: 50_000 })).toBe(50_000)
  })

  test('only counts matches in paths and bodies, and blocks all others', () => {
    const groups = rulesOf('production').rules.slice(1) as unknown as {
      Name: string
      OverrideAction: object
      Statement: {
        ManagedRuleGroupStatement: {
          VendorName: string
          RuleActionOverrides: { Name: string; ActionToUse: object }[]
        }
      }
    }[]
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
    expect(JSON.stringify(rulesOf('production'))).not.toContain('"SampledRequestsEnabled":true')
  })
})
