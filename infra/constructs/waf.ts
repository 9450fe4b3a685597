import { ArnFormat, type Stack } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import type { LogGroup } from 'aws-cdk-lib/aws-logs'
import { CfnLoggingConfiguration, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import { type Operation, operationNames, operations } from '../../shared/api/operations.ts'
import { replyHeaders } from '../../shared/api/reply-headers.ts'
import { errorBody } from '../definitions/gateway-responses.ts'
import { stageName } from '../definitions/resource-name.ts'
import type { Stage } from '../definitions/stages.ts'
import { defineLog } from './log-group.ts'

/**
 * Blocks requests before the gateway. The service validates paths and bodies itself with published
 * errors, so rules about these only count. Rules about queries, cookies and other headers block.
 */

/** Managed rule groups, each with the rules that only count. */
const managedGroups = {
  AWSManagedRulesAmazonIpReputationList: [],
  AWSManagedRulesCommonRuleSet: [
    // The rule blocks above 8 KiB; the service accepts 64 KiB.
    'SizeRestrictions_BODY',
    // Narration, references and metadata are plain text and may contain `<b>` or `../`.
    'CrossSiteScripting_BODY',
    'EC2MetaDataSSRF_BODY',
    'GenericLFI_BODY',
    'GenericRFI_BODY',
    // The service answers any unknown path with 404/1404.
    'CrossSiteScripting_URIPATH',
    'EC2MetaDataSSRF_URIPATH',
    'GenericLFI_URIPATH',
    'GenericRFI_URIPATH',
    'RestrictedExtensions_URIPATH',
    'SizeRestrictions_URIPATH',
    'NoUserAgent_HEADER',
  ],
  AWSManagedRulesKnownBadInputsRuleSet: [
    'JavaDeserializationRCE_BODY',
    'Log4JRCE_BODY',
    'ReactJSRCE_BODY',
    'ExploitablePaths_URIPATH',
    'JavaDeserializationRCE_URIPATH',
    'Log4JRCE_URIPATH',
  ],
} as const satisfies Record<string, readonly string[]>

const WINDOW_SECONDS = 60

/** Returns requests per minute and address: the setting, or twice a provider's published limits. */
export const addressLimit = (stage: Pick<Stage, 'limits' | 'addressLimit'>): number => {
  if (stage.addressLimit !== undefined) return stage.addressLimit
  const published = operationNames
    .map((name): Operation => operations[name])
    .filter(({ caller }) => caller === 'provider')
    .map(({ limit }) => (limit.perCaller ?? limit)[stage.limits])
  return 2 * published.reduce((sum, limit) => sum + limit, 0)
}

/** The name of the rule, its metric and its reply. */
const ADDRESS_LIMIT = 'address-limit'

const addressRule = (limit: number): CfnWebACL.RuleProperty => ({
  name: ADDRESS_LIMIT,
  priority: 0,
  statement: {
    rateBasedStatement: { aggregateKeyType: 'IP', limit, evaluationWindowSec: WINDOW_SECONDS },
  },
  action: {
    block: {
      customResponse: {
        responseCode: 429,
        customResponseBodyKey: ADDRESS_LIMIT,
        responseHeaders: Object.entries({
          ...replyHeaders,
          'Retry-After': String(WINDOW_SECONDS),
        }).map(([name, value]) => ({ name, value })),
      },
    },
  },
  visibilityConfig: visibility(ADDRESS_LIMIT),
})

type ManagedGroup = keyof typeof managedGroups

const managedRule = (name: ManagedGroup, index: number): CfnWebACL.RuleProperty => ({
  name,
  priority: index + 1,
  statement: {
    managedRuleGroupStatement: {
      vendorName: 'AWS',
      name,
      ruleActionOverrides: managedGroups[name].map((rule) => ({
        name: rule,
        actionToUse: { count: {} },
      })),
    },
  },
  overrideAction: { none: {} },
  visibilityConfig: visibility(name),
})

/** Disables samples, which would show credentials in the console. */
const visibility = (metricName: string): CfnWebACL.VisibilityConfigProperty => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: false,
})

/** Defines the firewall of a stage that has one, and always its log group. */
export const defineWaf = (stack: Stack, stage: Stage, api: RestApi): void => {
  // CloudFormation retains a removed log group, and cannot create its name again. WAF requires the prefix.
  const log = defineLog(stack, 'FirewallLog', stage, `aws-waf-logs-${stageName(stage.name)}`)
  if (!stage.hasFirewall) return
  const limit = addressLimit(stage)
  const details = { limit, period: 'minute', retry_after: WINDOW_SECONDS }
  const firewall = new CfnWebACL(stack, 'Firewall', {
    name: stageName(stage.name),
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    customResponseBodies: {
      [ADDRESS_LIMIT]: {
        contentType: 'APPLICATION_JSON',
        // A WAF response is static, so it has no request id.
        content: errorBody({ code: 1453, details }, null, stage.errorGuide),
      },
    },
    rules: [addressRule(limit), ...(Object.keys(managedGroups) as ManagedGroup[]).map(managedRule)],
    visibilityConfig: visibility(stageName(stage.name)),
    dataProtectionConfig: { dataProtections: hiddenFields },
  })
  new CfnWebACLAssociation(stack, 'FirewallOfApi', {
    resourceArn: api.deploymentStage.stageArn,
    webAclArn: firewall.attrArn,
  })
  defineLogging(stack, firewall, log)
}

/** Parts of a request that contain phone numbers or secrets; the log has `REDACTED` for them. */
const hiddenFields = [
  { fieldType: 'SINGLE_HEADER', fieldKeys: ['authorization', 'cookie', 'x-signature'] },
  { fieldType: 'QUERY_STRING' },
  // The log has no body, but would have the words of a body that match a rule.
  { fieldType: 'BODY' },
].map((field) => ({ field, action: 'SUBSTITUTION' }))

/** Logs requests that a rule blocked or counted. WAF itself adds the log group's resource policy. */
const defineLogging = (stack: Stack, firewall: CfnWebACL, log: LogGroup): void => {
  const actions = ['BLOCK', 'COUNT', 'EXCLUDED_AS_COUNT']
  new CfnLoggingConfiguration(stack, 'FirewallLogging', {
    resourceArn: firewall.attrArn,
    // WAF rejects the ARN of the construct, which ends with `:*`.
    logDestinationConfigs: [
      stack.formatArn({
        service: 'logs',
        resource: 'log-group',
        resourceName: log.logGroupName,
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      }),
    ],
    // Data protection does not cover the path, which may contain a phone number.
    redactedFields: [{ uriPath: {} }],
    loggingFilter: {
      DefaultBehavior: 'DROP',
      Filters: [
        {
          Behavior: 'KEEP',
          Requirement: 'MEETS_ANY',
          Conditions: actions.map((Action) => ({ ActionCondition: { Action } })),
        },
      ],
    },
  })
}
