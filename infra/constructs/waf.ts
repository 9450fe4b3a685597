import type { Stack } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import { type Operation, operationNames, operations } from '../../shared/api/operations.ts'
import { replyHeaders } from '../../shared/api/reply-headers.ts'
import { errorBody } from '../definitions/gateway-responses.ts'
import type { Stage } from '../definitions/stages.ts'

/**
 * What is turned away before the gateway. Paths and bodies are judged by the service itself, whose
 * answers to hostile ones are published: a managed rule about them is counted, and does not block.
 * Queries, cookies and other headers have no such answers, so there the rules hold.
 */

const managed = {
  AWSManagedRulesAmazonIpReputationList: [],
  AWSManagedRulesCommonRuleSet: [
    // A body may have 64 KiB, and is told when it has more; this one stops at 8.
    'SizeRestrictions_BODY',
    // Narration, references and metadata are text: `<b>` and `../` in them are stored, never run.
    'CrossSiteScripting_BODY',
    'EC2MetaDataSSRF_BODY',
    'GenericLFI_BODY',
    'GenericRFI_BODY',
    // An unknown path is 404/1404, whatever it spells.
    'CrossSiteScripting_URIPATH',
    'EC2MetaDataSSRF_URIPATH',
    'GenericLFI_URIPATH',
    'GenericRFI_URIPATH',
    'RestrictedExtensions_URIPATH',
    'SizeRestrictions_URIPATH',
    // Banks' and providers' servers need not name themselves.
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

/**
 * Requests per minute of one address: the stage's own figure, or twice the sum of the published
 * limits of a provider, so that no provider within its limits reaches it.
 */
export const addressLimit = (stage: Pick<Stage, 'name' | 'addressLimit'>): number => {
  if (stage.addressLimit !== undefined) return stage.addressLimit
  const column = stage.name === 'production' ? 'production' : 'sandbox'
  const ofProviders = operationNames
    .map((name): Operation => operations[name])
    .filter(({ caller }) => caller === 'provider')
  return 2 * ofProviders.reduce((sum, { limit }) => sum + (limit.perCaller ?? limit)[column], 0)
}

const ADDRESS_LIMIT_BODY = 'address-limit'

const addressRule = (limit: number): CfnWebACL.RuleProperty => ({
  name: 'address-limit',
  priority: 0,
  statement: {
    rateBasedStatement: { aggregateKeyType: 'IP', limit, evaluationWindowSec: WINDOW_SECONDS },
  },
  action: {
    block: {
      customResponse: {
        responseCode: 429,
        customResponseBodyKey: ADDRESS_LIMIT_BODY,
        responseHeaders: Object.entries({
          ...replyHeaders,
          'Retry-After': String(WINDOW_SECONDS),
        }).map(([name, value]) => ({ name, value })),
      },
    },
  },
  visibilityConfig: visible('address-limit'),
})

const managedRule = (name: keyof typeof managed, n: number): CfnWebACL.RuleProperty => ({
  name,
  priority: n + 1,
  statement: {
    managedRuleGroupStatement: {
      vendorName: 'AWS',
      name,
      ruleActionOverrides: managed[name].map((rule) => ({
        name: rule,
        actionToUse: { count: {} },
      })),
    },
  },
  overrideAction: { none: {} },
  visibilityConfig: visible(name),
})

/** Without samples: they would show credentials to whoever may look at the console. */
const visible = (metricName: string): CfnWebACL.VisibilityConfigProperty => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: false,
})

export const defineWaf = (stack: Stack, stage: Stage, api: RestApi): void => {
  const limit = addressLimit(stage)
  const details = { limit, period: 'minute', retry_after: WINDOW_SECONDS }
  const firewall = new CfnWebACL(stack, 'Firewall', {
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    customResponseBodies: {
      [ADDRESS_LIMIT_BODY]: {
        contentType: 'APPLICATION_JSON',
        // The same bytes for everyone: the firewall knows no time, and gives no request an id.
        content: errorBody(1453, details, { timestamp: null, requestId: null }),
      },
    },
    rules: [
      addressRule(limit),
      ...(Object.keys(managed) as (keyof typeof managed)[]).map(managedRule),
    ],
    visibilityConfig: visible('firewall'),
  })
  new CfnWebACLAssociation(stack, 'FirewallOfApi', {
    resourceArn: api.deploymentStage.stageArn,
    webAclArn: firewall.attrArn,
  })
}
