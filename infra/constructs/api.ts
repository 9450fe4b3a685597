import { CfnOutput, type Stack } from 'aws-cdk-lib'
import * as gateway from 'aws-cdk-lib/aws-apigateway'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import { AnyPrincipal, Effect, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { Alias, IFunction } from 'aws-cdk-lib/aws-lambda'
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { methodsOf } from '../../shared/api/resources.ts'
import { UNMATCHED } from '../definitions/functions.ts'
import {
  errorBody,
  type GatewayResponse,
  gatewayHeaders,
  gatewayResponseOf,
  gatewayResponses,
  REQUEST_ID,
} from '../definitions/gateway-responses.ts'
import { stageName } from '../definitions/resource-name.ts'
import type { Domain, Stage } from '../definitions/stages.ts'
import { defineLog } from './log-group.ts'
import { suppressNag } from './nag-suppressions.ts'

/** Defines the REST API without its routes, because functions need its host name first. */
export const defineApi = (stack: Stack, stage: Stage): gateway.RestApi => {
  const api = new gateway.RestApi(stack, 'Api', {
    restApiName: stageName(stage.name),
    // The account stack sets the role for logs, which exists once per account and Region.
    cloudWatchRole: false,
    endpointTypes: [gateway.EndpointType.REGIONAL],
    disableExecuteApiEndpoint: stage.domain?.isOnly ?? false,
    // Functions need the exact bytes of bodies to check their UTF-8 and signature.
    binaryMediaTypes: ['*/*'],
    deployOptions: deployment(stack, stage),
    policy: invocations(stage),
  })
  // API Gateway would create this log group without a retention.
  const executionLog = `API-Gateway-Execution-Logs_${api.restApiId}/${stage.name}`
  const log = defineLog(stack, 'ExecutionLog', stage, executionLog)
  // Otherwise the gateway would create the log group with the stage.
  api.deploymentStage.node.addDependency(log)
  for (const type of Object.keys(gatewayResponses) as GatewayResponse[])
    defineResponse(api, type, stage)
  suppressFindings(api, stage)
  return api
}

/**
 * Allows every request, or denies it while the stage is paused; the gateway then answers with its
 * ACCESS_DENIED response. CloudFormation keeps a policy that is removed from the template, so a resumed
 * stage has one that allows.
 */
const invocations = ({ paused }: Stage): PolicyDocument =>
  new PolicyDocument({
    statements: [
      new PolicyStatement({
        effect: paused ? Effect.DENY : Effect.ALLOW,
        principals: [new AnyPrincipal()],
        actions: ['execute-api:Invoke'],
        resources: ['execute-api:/*'],
      }),
    ],
  })

const deployment = (stack: Stack, stage: Stage): gateway.StageOptions => {
  const { perSecond, burst } = stage.throttle
  const everyMethod = {
    throttlingRateLimit: perSecond,
    throttlingBurstLimit: burst,
    // Keeps bodies, headers and phone numbers in paths out of the execution log.
    loggingLevel: gateway.MethodLoggingLevel.ERROR,
    dataTraceEnabled: false,
  }
  const { method, path } = operations.charge
  return {
    stageName: stage.name,
    ...everyMethod,
    // Metrics per method cost extra; one alarm needs those of charge.
    methodOptions: { [`${path}/${method}`]: { ...everyMethod, metricsEnabled: true } },
    accessLogDestination: new gateway.LogGroupLogDestination(defineLog(stack, 'AccessLog', stage)),
    accessLogFormat: gateway.AccessLogFormat.custom(JSON.stringify(accessLine)),
  }
}

/**
 * Logs the resource path, because the actual path may contain a phone number. The function's line with
 * the same `request_id` names the debit. A caller can set the gateway's other id, so no line has it.
 */
const accessLine = {
  at: gateway.AccessLogField.contextRequestTime(),
  request_id: gateway.AccessLogField.contextExtendedRequestId(),
  address: gateway.AccessLogField.contextIdentitySourceIp(),
  host: gateway.AccessLogField.contextDomainName(),
  method: gateway.AccessLogField.contextHttpMethod(),
  resource: gateway.AccessLogField.contextResourcePath(),
  status: gateway.AccessLogField.contextStatus(),
  milliseconds: gateway.AccessLogField.contextResponseLatency(),
  error: gateway.AccessLogField.contextErrorResponseType(),
  firewall: gateway.AccessLogField.contextWafResponseCode(),
}

const suppressFindings = (api: gateway.RestApi, stage: Stage): void => {
  suppressNag(api, {
    APIG2: 'Each function validates its request with the published error codes',
    APIG4: 'Each function checks the credential; a revocation takes effect within 30 s',
    COG4: 'Providers and banks call with tokens; no user signs in',
    ...(stage.hasFirewall ? {} : { APIG3: 'This stage has no firewall' }),
  })
}

/** Routes each operation to its function, and all other requests to `answer-unmatched`. */
export const defineRoutes = (api: gateway.RestApi, functions: ReadonlyMap<string, Alias>) => {
  const integration = (name: string): gateway.LambdaIntegration => {
    const lambda = functions.get(name)
    if (!lambda) throw new Error(`Unknown function ${name}`)
    // One permission for the API instead of two per method keeps the stack below 500 resources.
    return new gateway.LambdaIntegration(lambda as IFunction, { scopePermissionToMethod: false })
  }
  const unmatched = integration(UNMATCHED)
  const paths = new Set<string>()
  for (const name of operationNames) {
    const { path } = operations[name]
    const resource = api.root.resourceForPath(path)
    for (const method of methodsOf(name)) resource.addMethod(method, integration(name))
    if (!paths.has(path)) resource.addMethod('ANY', unmatched)
    paths.add(path)
  }
  api.root.addMethod('ANY', unmatched)
  api.root.addResource('{proxy+}').addMethod('ANY', unmatched)
}

const defineResponse = (api: gateway.RestApi, type: GatewayResponse, stage: Stage): void => {
  const row = gatewayResponseOf(type, stage)
  // The gateway takes a quoted value literally and any other as a variable.
  const headers = Object.entries(gatewayHeaders(row)).map(([name, value]) => [name, `'${value}'`])
  api.addGatewayResponse(type, {
    type: gateway.ResponseType.of(type),
    statusCode: String(row.status),
    responseHeaders: { 'X-Request-ID': REQUEST_ID.slice(1), ...Object.fromEntries(headers) },
    templates: { 'application/json': errorBody(row, REQUEST_ID, stage.errorGuide) },
  })
}

export const defineCustomDomain = (stack: Stack, domain: Domain, api: gateway.RestApi): void => {
  const domainName = new gateway.DomainName(stack, 'Domain', {
    domainName: domain.name,
    certificate: Certificate.fromCertificateArn(stack, 'Certificate', domain.certificateArn),
    endpointType: gateway.EndpointType.REGIONAL,
    securityPolicy: gateway.SecurityPolicy.TLS_1_2,
    mapping: api as gateway.IRestApi,
  })
  new CfnOutput(stack, 'DomainTarget', { value: domainName.domainNameAliasDomainName })
  if (!domain.zone) return
  const zone = HostedZone.fromHostedZoneAttributes(stack, 'Zone', {
    hostedZoneId: domain.zone.id,
    zoneName: domain.zone.name,
  })
  const record = {
    zone,
    recordName: domain.name,
    target: RecordTarget.fromAlias(new ApiGatewayDomain(domainName)),
  }
  new ARecord(stack, 'DomainEntry', record)
  new AaaaRecord(stack, 'DomainEntry6', record)
}

/** Returns the hosts that answer. The gateway's is first, because it needs no DNS record. */
export const ownHosts = (stack: Stack, domain: Domain | undefined, api: gateway.RestApi) => [
  ...(domain?.isOnly ? [] : [`${api.restApiId}.execute-api.${stack.region}.${stack.urlSuffix}`]),
  ...(domain ? [domain.name] : []),
]
