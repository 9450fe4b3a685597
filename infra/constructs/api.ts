import type { Stack } from 'aws-cdk-lib'
import {
  AccessLogFormat,
  EndpointType,
  AccessLogField as Field,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  ResponseType,
  RestApi,
  type StageOptions,
} from 'aws-cdk-lib/aws-apigateway'
import { AnyPrincipal, Effect, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { methodsOf } from '../../shared/api/resources.ts'
import { UNMATCHED } from '../definitions/functions.ts'
import {
  type GatewayResponse,
  gatewayBody,
  gatewayHeaders,
  gatewayResponseOf,
  gatewayResponses,
} from '../definitions/gateway-responses.ts'
import type { Stage } from '../definitions/stages.ts'
import { defineLog } from './log-group.ts'
import { suppressNag } from './nag-suppressions.ts'

/** The REST API as its functions may know it, before it has a way to them. */
export const defineApi = (stack: Stack, stage: Stage): RestApi => {
  const api = new RestApi(stack, 'Api', {
    restApiName: `debit-collection-${stage.name}`,
    endpointTypes: [EndpointType.REGIONAL],
    // Whoever knew the gateway's own name could go round what is set up at the domain.
    disableExecuteApiEndpoint: stage.domain !== undefined,
    // Bodies arrive as the bytes that were sent, so that their UTF-8 and signature can be judged.
    binaryMediaTypes: ['*/*'],
    deployOptions: deployment(stack, stage),
    ...(stage.paused ? { policy: closed() } : {}),
  })
  // The gateway would make it itself, to be kept for ever.
  const ownLog = `API-Gateway-Execution-Logs_${api.restApiId}/${stage.name}`
  defineLog(stack, 'ExecutionLog', stage, ownLog)
  for (const type of Object.keys(gatewayResponses) as GatewayResponse[])
    defineResponse(api, type, stage)
  acceptFindings(api, stage)
  return api
}

/** Denies every request before any function. The gateway answers it as ACCESS_DENIED. */
const closed = (): PolicyDocument =>
  new PolicyDocument({
    statements: [
      new PolicyStatement({
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: ['execute-api:Invoke'],
        resources: ['execute-api:/*'],
      }),
    ],
  })

const deployment = (stack: Stack, stage: Stage): StageOptions => {
  const { perSecond, burst } = stage.throttle
  const everyMethod = {
    throttlingRateLimit: perSecond,
    throttlingBurstLimit: burst,
    // Bodies, headers and the numbers in paths stay out of it: no data trace, and errors alone.
    loggingLevel: MethodLoggingLevel.ERROR,
    dataTraceEnabled: false,
  }
  const { method, path } = operations.charge
  return {
    stageName: stage.name,
    ...everyMethod,
    // The figures of a single method cost extra, and one alarm needs them.
    methodOptions: { [`${path}/${method}`]: { ...everyMethod, metricsEnabled: true } },
    accessLogDestination: new LogGroupLogDestination(defineLog(stack, 'AccessLog', stage)),
    accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLine)),
  }
}

/** Who asked for what, and how it went. The path as it is defined: a real one has numbers in it. */
const accessLine = {
  at: Field.contextRequestTime(),
  request_id: Field.contextRequestId(),
  address: Field.contextIdentitySourceIp(),
  method: Field.contextHttpMethod(),
  resource: Field.contextResourcePath(),
  status: Field.contextStatus(),
  milliseconds: Field.contextResponseLatency(),
  error: Field.contextErrorResponseType(),
  firewall: Field.contextWafResponseCode(),
}

const acceptFindings = (api: RestApi, stage: Stage): void => {
  suppressNag(api, {
    APIG2: 'Each function validates its request with the published error codes',
    APIG4: 'Each function checks the credential; a revocation takes effect within 30 s',
    COG4: 'Providers and banks call with tokens; no user signs in',
    'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
      'The policy that API Gateway documents for its logs',
    ...(stage.hasFirewall ? {} : { APIG3: 'This stage has no firewall' }),
  })
}

/** A route for each operation, and one function for whatever is none. */
export const defineRoutes = (api: RestApi, functions: ReadonlyMap<string, IFunction>): void => {
  const integration = (name: string): LambdaIntegration => {
    const lambda = functions.get(name)
    if (!lambda) throw new Error(`Unknown function ${name}`)
    // One permission for the API, not one for each method, and another for the console's own test.
    return new LambdaIntegration(lambda, { scopePermissionToMethod: false })
  }
  const unmatched = integration(UNMATCHED)
  const withMethods = new Set<string>()
  for (const name of operationNames) {
    const { path } = operations[name]
    const resource = api.root.resourceForPath(path)
    for (const method of methodsOf(name)) resource.addMethod(method, integration(name))
    if (!withMethods.has(path)) resource.addMethod('ANY', unmatched)
    withMethods.add(path)
  }
  api.root.addMethod('ANY', unmatched)
  api.root.addResource('{proxy+}').addMethod('ANY', unmatched)
}

const defineResponse = (api: RestApi, type: GatewayResponse, stage: Stage): void => {
  const row = gatewayResponseOf(type, stage)
  // The gateway reads a value in quotes as it stands, and others as its variables.
  const fixed = Object.entries(gatewayHeaders(row)).map(([name, value]) => [name, `'${value}'`])
  api.addGatewayResponse(type, {
    type: ResponseType.of(type),
    statusCode: String(row.status),
    responseHeaders: { 'X-Request-ID': 'context.requestId', ...Object.fromEntries(fixed) },
    templates: {
      'application/json': gatewayBody(row, {
        timestamp: '$context.requestTime',
        requestId: '$context.requestId',
      }),
    },
  })
}
