import { Match } from 'aws-cdk-lib/assertions'
import { expect, test } from 'vitest'
import { addressLimit } from '../../infra/constructs/waf.ts'
import { gatewayResponses } from '../../infra/definitions/gateway-responses.ts'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { errors } from '../../shared/domain/refusal.ts'
import { holdError } from '../support/contract.ts'
import { propertiesOf, type TemplateNode, templatesOf } from '../support/templates.ts'

const GUIDE = 'https://docs.example.com/errors'

const templates = {
  sandbox: templatesOf(stageNamed('sandbox')),
  production: templatesOf({ ...stageNamed('production'), errorGuide: GUIDE }),
}

const aclOf = (stage: keyof typeof templates): TemplateNode =>
  propertiesOf(templates[stage].all, 'AWS::WAFv2::WebACL')[0] ?? {}

test.each(['production', 'sandbox'] as const)(
  'the firewall of %s replies 429/1453 to an address above its limit',
  (name) => {
    const limit = addressLimit({ limits: name })
    const api = { 'Fn::Join': ['', Match.arrayWith([{ Ref: Match.stringLikeRegexp('^Api') }])] }
    const association = { ResourceArn: api }
    templates[name].all.hasResourceProperties('AWS::WAFv2::WebACLAssociation', association)
    const { Rules, CustomResponseBodies } = aclOf(name)
    const headers = {
      'Cache-Control': 'no-store',
      'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
      'X-Content-Type-Options': 'nosniff',
      'Retry-After': '60',
    }
    const CustomResponse = {
      ResponseCode: errors[1453].http,
      CustomResponseBodyKey: 'address-limit',
      ResponseHeaders: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })),
    }
    expect(Rules[0]).toMatchObject({
      Priority: 0,
      Statement: { RateBasedStatement: { Limit: limit, EvaluationWindowSec: 60 } },
      Action: { Block: { CustomResponse } },
    })
    const { message, category, severity } = errors[1453]
    const details = { limit, period: 'minute', retry_after: 60 }
    const { ContentType, Content } = CustomResponseBodies['address-limit']
    expect(ContentType).toBe('APPLICATION_JSON')
    holdError('the 429 of the firewall', JSON.parse(Content))
    expect(JSON.parse(Content)).toEqual({
      success: false,
      error: {
        ...{ code: 1453, message, category, severity, details },
        ...(name === 'production' && { doc_url: `${GUIDE}#c1453` }),
      },
      details,
      meta: { timestamp: null, request_id: null, api_version: 'v1' },
    })
  },
)

test('the firewall exists by default and takes no samples, which contain credentials', () => {
  expect(JSON.stringify(aclOf('production'))).not.toContain('"SampledRequestsEnabled":true')
})

test('the firewall never limits a caller within the published limits', () => {
  for (const limits of ['production', 'sandbox'] as const) {
    const sums = { provider: 0, bank: 0 }
    for (const operation of operationNames) {
      const { caller, limit } = operations[operation]
      sums[caller] += ('perCaller' in limit ? limit.perCaller : limit)[limits]
    }
    expect(addressLimit({ limits })).toBe(2 * Math.max(...Object.values(sums)))
  }
  expect(addressLimit({ limits: 'production', addressLimit: 50_000 })).toBe(50_000)
})

test('the firewall only counts matches in paths and bodies, and blocks all others with 403/1403', () => {
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
  expect(gatewayResponses.WAF_FILTERED).toEqual({ status: 403, code: 1403 })
})

const { all } = templates.production
const logGroupsOf = (template: typeof all, LogGroupName: string) =>
  template.findResources('AWS::Logs::LogGroup', { Properties: { LogGroupName } })
const loggingOf = (): TemplateNode => propertiesOf(all, 'AWS::WAFv2::LoggingConfiguration')[0] ?? {}

test('the firewall logs blocked and counted requests to a log group with the prefix of WAF', () => {
  const { ResourceArn, LogDestinationConfigs, LoggingFilter } = loggingOf()
  const [acl] = Object.keys(all.findResources('AWS::WAFv2::WebACL'))
  expect(ResourceArn).toEqual({ 'Fn::GetAtt': [acl, 'Arn'] })
  const LogGroupName = 'aws-waf-logs-debit-collection-production'
  const logs = logGroupsOf(all, LogGroupName)
  expect(LogDestinationConfigs).toHaveLength(1)
  expect(LogDestinationConfigs[0]['Fn::Join'][1].slice(-2)).toEqual([
    ':log-group:',
    { Ref: Object.keys(logs)[0] },
  ])
  expect(LoggingFilter).toEqual({
    DefaultBehavior: 'DROP',
    Filters: [
      {
        Behavior: 'KEEP',
        Requirement: 'MEETS_ANY',
        Conditions: ['BLOCK', 'COUNT', 'EXCLUDED_AS_COUNT'].map((Action) => ({
          ActionCondition: { Action },
        })),
      },
    ],
  })
})

test('a stage without a firewall keeps its log group, whose name could not be created again', () => {
  const without = templatesOf({ ...stageNamed('production'), hasFirewall: false }).all
  for (const type of ['WebACL', 'WebACLAssociation', 'LoggingConfiguration'])
    without.resourceCountIs(`AWS::WAFv2::${type}`, 0)
  const logs = logGroupsOf(without, 'aws-waf-logs-debit-collection-production')
  expect(logs).toEqual(logGroupsOf(all, 'aws-waf-logs-debit-collection-production'))
  expect(Object.keys(logs)).toHaveLength(1)
})

test('the log of the firewall has no path, query, body, credential or signature', () => {
  expect(loggingOf().RedactedFields).toEqual([{ UriPath: {} }])
  const Action = 'SUBSTITUTION'
  const FieldKeys = ['authorization', 'cookie', 'x-signature']
  expect(aclOf('production').DataProtectionConfig.DataProtections).toEqual([
    { Action, Field: { FieldType: 'SINGLE_HEADER', FieldKeys } },
    { Action, Field: { FieldType: 'QUERY_STRING' } },
    { Action, Field: { FieldType: 'BODY' } },
  ])
})

test('the metric of the firewall has the name of its stage, which its alarm watches', () => {
  for (const name of ['sandbox', 'production'] as const) {
    const { VisibilityConfig, Name } = aclOf(name)
    expect([Name, VisibilityConfig.MetricName]).toEqual(Array(2).fill(`debit-collection-${name}`))
  }
})
