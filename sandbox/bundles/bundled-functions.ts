import type { FunctionRow } from '../../infra/definitions/functions.ts'
import { lambdaVariables } from '../environment.ts'
import { type AwsServices, openAwsEndpoint } from './aws-endpoint.ts'
import { newFunctionProcesses } from './function-processes.ts'

type BundleOptions = AwsServices & {
  /** Returns the file of a bundle, by the name of its function. */
  bundleOf: (name: string) => string
  /** Returns the variables of a function's stack, with the endpoint of the services. */
  variablesOf: (row: FunctionRow, awsEndpoint: string) => Record<string, string>
}

/** Opens the endpoint of the services in memory, and runs bundles with only the variables of Lambda. */
export const openBundledFunctions = async (
  { bundleOf, variablesOf, ...services }: BundleOptions,
  cleanup: AsyncDisposableStack,
) => {
  const address = await openAwsEndpoint(services, cleanup)
  const processes = newFunctionProcesses({
    bundleOf,
    variablesOf: (row) => ({
      ...variablesOf(row, address),
      ...lambdaVariables(row),
      AWS_ENDPOINT_URL: address,
    }),
  })
  cleanup.defer(processes.stop)
  return { address, ...processes }
}
