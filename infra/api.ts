import type { Stack } from 'aws-cdk-lib'
import { EndpointType, LambdaIntegration, ResponseType, RestApi } from 'aws-cdk-lib/aws-apigateway'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { operationNames, operations } from '../shared/api/operations.ts'
import { UNMATCHED } from './functions.ts'
import { type GatewayResponse, gatewayBody, gatewayResponses } from './gateway-responses.ts'
import type { Stage } from './stages.ts'

/** The REST API: a route for each operation, and one function for whatever is none. */
export const defineApi = (
  stack: Stack,
  stage: Stage,
  functions: ReadonlyMap<string, IFunction>,
): RestApi => {
  const integration = (name: string): LambdaIntegration => {
    const lambda = functions.get(name)
    if (!lambda) throw new Error(`There is no function ${name}`)
    return new LambdaIntegration(lambda)
  }
  const unmatched = integration(UNMATCHED)
  const api = new RestApi(stack, 'Api', {
    restApiName: `debit-collection-${stage.name}`,
    endpointTypes: [EndpointType.REGIONAL],
    // Bodies arrive as the bytes that were sent, so that their UTF-8 and signature can be judged.
    binaryMediaTypes: ['*/*'],
    deployOptions: { stageName: stage.name },
  })
  const withMethods = new Set<string>()
  for (const name of operationNames) {
    const { path, method } = operations[name]
    const resource = api.root.resourceForPath(path)
    resource.addMethod(method, integration(name))
    if (!withMethods.has(path)) resource.addMethod('ANY', unmatched)
    withMethods.add(path)
  }
  api.root.addMethod('ANY', unmatched)
  api.root.addResource('{proxy+}').addMethod('ANY', unmatched)
  for (const type of Object.keys(gatewayResponses) as GatewayResponse[]) defineResponse(api, type)
  return api
}

const defineResponse = (api: RestApi, type: GatewayResponse): void => {
  api.addGatewayResponse(type, {
    type: ResponseType.of(type),
    statusCode: String(gatewayResponses[type].status),
    responseHeaders: { 'X-Request-ID': 'context.requestId' },
    templates: {
      'application/json': gatewayBody(type, {
        timestamp: '$context.requestTime',
        requestId: '$context.requestId',
      }),
    },
  })
}
