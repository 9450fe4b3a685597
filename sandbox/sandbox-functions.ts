import { type FunctionRow, functionRows } from '../infra/definitions/functions.ts'
import { type Runtime, real } from '../shared/runtime.ts'
import { type RealClock, timeBy } from './aws/clock.ts'
import { type Answer, answerCalls, perform } from './aws/sdk.ts'
import { openBundledFunctions } from './bundles/bundled-functions.ts'
import { functionVariables } from './environment.ts'
import { type OnFault, reportDeniedCalls, withFaultReports } from './faults.ts'
import { answerFunctionCalls, type FunctionHost, loadFunctions, loadWith } from './function-host.ts'
import type { Memory } from './memory.ts'
import { signedObject } from './signed-object.ts'

type FunctionDeps = {
  /** The address of the API. */
  address: string
  clock: RealClock
  memory: Memory
  timeScale: number
  webhookHosts: readonly string[] | undefined
  /** Returns the bundle of a function, to run in a process; without it, functions run in this one. */
  bundleOf: ((name: string) => string) | undefined
  onFault: OnFault
}

export type SandboxFunctions = Awaited<ReturnType<typeof openFunctions>>

/** Loads the functions and answers their calls to AWS from memory. */
export const openFunctions = async (
  { address, clock, memory, timeScale, webhookHosts, bundleOf, onFault }: FunctionDeps,
  cleanup: { bundles: AsyncDisposableStack; calls: AsyncDisposableStack },
) => {
  let approvals = false
  const { host } = new URL(address)
  const variablesOf = (row: FunctionRow, awsEndpoint?: string) =>
    functionVariables(row, { timeScale, approvals, webhookHosts, host, awsEndpoint })
  const readObject = (url: URL) => signedObject(url, memory.aws().bucket.objects)
  const answer: Answer = (command) => {
    const { name } = command.constructor
    const aws = memory.aws()
    return aws.serviceOf(name)
      ? perform(() => aws.perform(name, command.input))
      : answerFunctionCalls(functions)(command)
  }
  // The gateway serves the objects of the bucket.
  const own = { AWS_ENDPOINT_URL_S3: address, APPROVALS: 'false' }
  Object.assign(process.env, ...functionRows.map((row) => variablesOf(row)), own)
  const bundled =
    bundleOf &&
    (await openBundledFunctions({ bundleOf, variablesOf, answer, readObject }, cleanup.bundles))
  cleanup.calls.defer(reportDeniedCalls(onFault))
  cleanup.calls.defer(() => answerCalls(() => undefined))
  const runtime: Runtime = { ...real, now: () => new Date(timeBy(clock.setting(), Date.now())) }
  const load = bundled?.load ?? loadWith(runtime)
  const functions: FunctionHost = withFaultReports(await loadFunctions(functionRows, load), onFault)
  answerCalls(answer)
  return {
    ...functions,
    readObject,
    /** Reloads the functions, bundles in new processes: the next invocations have empty caches and the present variables. */
    restart: (): Promise<void> => (bundled ? bundled.stop() : functions.reload()),
    setApprovals: (next: boolean): void => {
      approvals = next
      process.env.APPROVALS = String(next)
    },
  }
}
