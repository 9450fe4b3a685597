import { getDenialReasons, type RequestAnalysis, runSimulation } from '@cloud-copilot/iam-simulate'
import type { DeployedStage } from './deployed-stage.ts'
import { ACCOUNT } from './resolve-templates.ts'

/** Describes a check that IAM makes for a call. */
export type IamCheck = {
  /** ARN of a role, or the name of a service. */
  principal: string
  action: string
  resource: string
  context?: Record<string, string | string[]>
}

const overHttps = { 'aws:SecureTransport': 'true' }

export type SimulatedResult = 'Allowed' | 'ImplicitlyDenied' | 'ExplicitlyDenied' | 'Invalid'

/** Simulates the checks with the policies of a stage; returns a line for each that is not allowed. */
export const deniedChecks = async (
  stage: DeployedStage,
  checks: readonly IamCheck[],
): Promise<string[]> => {
  const distinct = new Map(checks.map((check) => [JSON.stringify(check), check]))
  const lines: string[] = []
  for (const check of distinct.values()) {
    const { result, reason } = await simulate(stage, check)
    if (result !== 'Allowed') lines.push(`${formatCheck(stage, check)}: ${result}, ${reason}`)
  }
  return lines
}

const formatCheck = (
  stage: DeployedStage,
  { principal, action, resource, context = {} }: IamCheck,
): string => {
  const caller = stage.functionNames.find((name) => stage.functionNamed(name).Role === principal)
  return [caller ?? principal, action, 'on', resource, JSON.stringify(context)].join(' ')
}

/** Returns the resources or conditions that do not match in statements for the action, and denials. */
const reasonsIn = (analysis: RequestAnalysis): string[] => {
  const { unmatchedStatements = [] } = analysis.identityAnalysis ?? {}
  const mismatches = unmatchedStatements
    .filter(({ actionMatch }) => actionMatch)
    .map(({ resourceMatch, explain }) => (resourceMatch ? explain.conditions : explain.resources))
  return [...mismatches, ...getDenialReasons(analysis)].map((reason) => JSON.stringify(reason))
}

export const simulate = async (
  stage: DeployedStage,
  { principal, action, resource, context = {} }: IamCheck,
): Promise<{ result: SimulatedResult; reason: string }> => {
  const response = await runSimulation(
    {
      request: {
        principal,
        action,
        resource: { resource, accountId: ACCOUNT },
        contextVariables: { ...(/^(?:s3|sqs):/.test(action) && overHttps), ...context },
      },
      identityPolicies: stage.policiesOf(principal),
      serviceControlPolicies: [],
      resourceControlPolicies: [],
      resourcePolicy: stage.resourcePolicyOf(resource),
    },
    {},
  )
  if (response.resultType === 'error') {
    return { result: 'Invalid', reason: JSON.stringify(response.errors) }
  }
  const results = response.resultType === 'single' ? [response.result] : response.results
  // AWS would not evaluate conditions on these keys, so they would not limit the call.
  const ignored = results.flatMap(({ ignoredContextKeys = [] }) => ignoredContextKeys)
  if (ignored.length > 0) return { result: 'Invalid', reason: `no context ${ignored.join()}` }
  const reasons = results.flatMap(({ analysis }) => reasonsIn(analysis))
  return { result: response.overallResult, reason: reasons.join(' ') }
}
