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

/** In what stages differ, and what is alike in all of them. */

/** One with everything that a stage may say and neither of ours does. */
const odd: Stage = {
  ...stageNamed('sandbox'),
  name: 'odd',
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
  odd,
}
const templates = Object.fromEntries(
  Object.entries(stages).map(([name, stage]) => [name, templatesOf(stage)]),
)
const of = (name: string) => {
  const found = templates[name]
  if (!found) throw new Error(`No stage ${name}`)
  return found
}

type Properties = Record<string, never> & {
  FunctionName: string
  Environment: { Variables: Record<string, unknown> }
  ReservedConcurrentExecutions?: number
}

const lambda = (stage: string, name: string): Properties => {
  const functions = Object.values(of(stage).service.findResources('AWS::Lambda::Function'))
  const found = functions.find(({ Properties }) => Properties.FunctionName.endsWith(`-${name}`))
  if (!found) throw new Error(`No function ${name}`)
  return found.Properties
}

const each = Object.keys(stages)

test.each(each)('%s: nothing is found by the rules of AWS Solutions', (name) => {
  expect(of(name).findings()).toEqual([])
})

test.each(each)('%s: each stack stays well below the 500 resources that it may have', (name) => {
  for (const [stack, template] of Object.entries(of(name)).slice(0, 2)) {
    const count = Object.keys(
      (template as ReturnType<typeof of>['service']).toJSON().Resources,
    ).length
    expect(count, `${count} resources in ${stack}`).toBeLessThan(475)
  }
})

test.each([
  // stage, rate, burst, days of logs, policy, protected
  ['sandbox', 100, 200, 30, 'Delete', false],
  ['production', 1_000, 2_000, 365, 'Retain', true],
])('%s: %i requests a second, bursts of %i, logs for %i days, data: %s', (name, ...wanted) => {
  const [perSecond, burst, days, policy, isProtected] = wanted
  const { data, service } = of(name)
  const settings = { ThrottlingRateLimit: perSecond, ThrottlingBurstLimit: burst }
  service.hasResourceProperties('AWS::ApiGateway::Stage', {
    MethodSettings: [
      Match.objectLike({
        HttpMethod: '*',
        ResourcePath: '/*',
        DataTraceEnabled: false,
        ...settings,
      }),
      // The figures of charges are paid for; what holds for all holds for them too.
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
})

describe('the bank of the sandbox', () => {
  test.each([
    ['sandbox', true],
    ['production', false],
  ])('%s: has one: %s', (name, hasOne) => {
    const names = functionsOf(stageNamed(name)).map((row) => row.name)
    expect(names.includes('report-sandbox-outcome')).toBe(hasOne)
    const known = lambda(name, 'submit-to-bank').Environment.Variables
    expect('QUEUE_URL_SANDBOX_OUTCOMES' in known).toBe(hasOne)
    for (const row of functionsOf(stageNamed(name))) {
      const variables = lambda(name, row.name).Environment.Variables
      expect(variables.SANDBOX_BANK, row.name).toBe(hasOne ? 'true' : undefined)
    }
    expect(JSON.stringify(of(name).service.toJSON()).includes('sandbox-outcomes')).toBe(hasOne)
  })

  test('is all that production lacks', () => {
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
  ])('%s: every function has APPROVALS=%s', (name, value) => {
    for (const row of functionsOf(stageNamed(name))) {
      expect(lambda(name, row.name).Environment.Variables.APPROVALS, row.name).toBe(value)
    }
  })

  test('invoke the functions of their own stage', () => {
    const { FUNCTION_PREFIX } = lambda('production', 'manage-approval').Environment.Variables
    expect(FUNCTION_PREFIX).toBe('debit-collection-production-')
    expect(lambda('production', 'manage-debit').Environment.Variables).not.toHaveProperty(
      'FUNCTION_PREFIX',
    )
  })
})

describe('workers', () => {
  const behindGateway = [...operationNames, 'answer-unmatched']
  const reserved = (stage: string) =>
    functionsOf(stageNamed(stage)).map(({ name }) => ({
      name,
      workers: lambda(stage, name).ReservedConcurrentExecutions,
    }))
  const consumers = (stage: string): number[] =>
    Object.values(of(stage).service.findResources('AWS::Lambda::EventSourceMapping')).flatMap(
      ({ Properties }) => Properties.ScalingConfig?.MaximumConcurrency ?? [],
    )
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

  test('in production some are kept for each function behind the gateway, and for no other', () => {
    const kept = reserved('production').filter(({ workers }) => workers !== undefined)
    expect(kept.map(({ name }) => name).sort()).toEqual([...behindGateway].sort())
    const byName = Object.fromEntries(kept.map(({ name, workers }) => [name, workers]))
    expect(byName).toMatchObject({ charge: 200, 'get-debit-request': 100, 'list-banks': 15 })
  })

  test('with what the jobs may take they fit into the thousand of an account, and leave some', () => {
    const kept = sum(reserved('production').map(({ workers }) => workers ?? 0))
    // AWS keeps a hundred for functions that have none of their own; the relay has one a shard.
    expect(1_000 - kept - sum(consumers('production'))).toBeGreaterThan(150)
  })

  test('a sandbox reserves none, and gives a queue no more than five', () => {
    expect(reserved('sandbox').filter(({ workers }) => workers !== undefined)).toEqual([])
    expect(Math.max(...consumers('sandbox'))).toBe(5)
    expect(Math.min(...consumers('sandbox'))).toBeGreaterThanOrEqual(2)
  })

  test('in production each queue has those that its job says', () => {
    const said = jobsOf(stageNamed('production')).flatMap((name) => {
      const { from } = jobRow(name)
      return 'queues' in from ? from.queues.map(() => from.maxConcurrency) : []
    })
    expect(consumers('production').sort()).toEqual(said.sort())
  })
})

describe('where the API answers', () => {
  test('without a domain: under the name that the gateway gives it', () => {
    const { service } = of('production')
    const [api] = Object.keys(service.findResources('AWS::ApiGateway::RestApi'))
    service.hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: false })
    service.resourceCountIs('AWS::ApiGateway::DomainName', 0)
    const ends = ['.execute-api.', { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }]
    for (const name of ['test-webhook', 'deliver-webhook', 'manage-webhook']) {
      expect(lambda('production', name).Environment.Variables.OWN_HOSTS).toEqual({
        'Fn::Join': ['', [{ Ref: api }, ...ends]],
      })
    }
  })

  test('with a domain: under that alone, over TLS 1.2, entered in its zone', () => {
    const { service } = of('odd')
    service.hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: true })
    service.hasResourceProperties('AWS::ApiGateway::DomainName', {
      DomainName: 'api.example.com',
      RegionalCertificateArn: odd.domain?.certificateArn,
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
    expect(lambda('odd', 'deliver-webhook').Environment.Variables.OWN_HOSTS).toBe('api.example.com')
  })
})

describe('the firewall', () => {
  const rulesOf = (stage: string) => {
    const [acl] = Object.values(of(stage).service.findResources('AWS::WAFv2::WebACL'))
    return { ...acl?.Properties, rules: acl?.Properties.Rules as Record<string, never>[] }
  }

  test('stands before the API unless a stage has none', () => {
    for (const name of stageNames) {
      of(name).service.hasResourceProperties('AWS::WAFv2::WebACLAssociation', {
        ResourceArn: {
          'Fn::Join': ['', Match.arrayWith([{ Ref: Match.stringLikeRegexp('^Api') }])],
        },
      })
    }
    of('odd').service.resourceCountIs('AWS::WAFv2::WebACL', 0)
  })

  test.each([
    ['production', 8_020],
    ['sandbox', 3_420],
  ])('%s: %i requests a minute of one address, then 429/1453 in the envelope', (name, limit) => {
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

  test('no provider who keeps to the published limits meets it', () => {
    const most = operationNames
      .map((name) => operations[name])
      .filter(({ caller }) => caller === 'provider')
      .reduce((sum, { limit }) => {
        const { production } = 'perCaller' in limit ? limit.perCaller : limit
        return sum + production
      }, 0)
    expect(addressLimit({ name: 'production' })).toBeGreaterThan(most)
  })

  test('no bank that uses every published limit of a token reaches it', () => {
    const most = operationNames
      .map((name) => operations[name])
      .filter(({ caller }) => caller === 'bank')
      .reduce((sum, { limit }) => sum + limit.production, 0)
    expect(addressLimit({ name: 'production' })).toBeGreaterThan(most)
  })

  test('a stage with raised limits has an address limit of its own', () => {
    expect(addressLimit({ name: 'production', addressLimit: 50_000 })).toBe(50_000)
  })

  test('counts what the service itself answers of paths and bodies, and blocks the rest', () => {
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

  test('what it blocks is 403/1403 in the envelope', () => {
    expect(gatewayResponses.WAF_FILTERED).toEqual({ status: 403, code: 1403 })
  })

  test('shows no sample of a request, as they carry credentials', () => {
    expect(JSON.stringify(rulesOf('production'))).not.toContain('"SampledRequestsEnabled":true')
  })
})
