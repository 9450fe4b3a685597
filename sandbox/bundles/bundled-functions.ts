import type { FunctionRow } from '../../infra/definitions/functions.ts'
import type { Endpoints } from '../emulator/endpoints.ts'
import { endpointVariables, lambdaVariables } from '../environment.ts'
import { type AwsServices, openAwsEndpoint } from './aws-endpoint.ts'
import { newFunctionProcesses } from './function-processes.ts'

type BundleOptions = AwsServices & {
  /** Returns the file of a bundle, by the name of its function. */
  bundleOf: (name: string) => string
  /** Returns the variables of a function's stack. */
  variablesOf: (row: FunctionRow) => Record<string, string>
  endpoints: Endpoints
}

/** Opens the endpoint of the services in memory, and runs bundles with only the variables of Lambda. */
export const openBundledFunctions = async (
  { bundleOf, variablesOf, endpoints, ...services }: BundleOptions,
  cleanup: AsyncDisposableStack,
) => {
  const address = await openAwsEndpoint(services, cleanup)
  const inMemory = { dynamoDb: address, sqs: address, s3: address }
  const addresses = {
    AWS_ENDPOINT_URL: address,
    ...endpointVariables({ ...inMemory, ...endpoints }),
  }
  const processes = newFunctionProcesses({
    bundleOf,
    variablesOf: (row) => ({ ...variablesOf(row), ...lambdaVariables(row), ...addresses }),
  })
  cleanup.defer(processes.stop)
  return { address, ...processes }
}
