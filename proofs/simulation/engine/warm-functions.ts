import type { FunctionName } from '../../../infra/definitions/function-permissions.ts'
import { functionRows } from '../../../infra/definitions/functions.ts'
import { type LambdaHandler, loadFunction } from '../../../sandbox/aws/load-function.ts'
import type { Runtime } from '../../../shared/runtime.ts'
import { current } from './current.ts'
import { type InvocationResult, WORKERS, workerOf } from './invocations.ts'

/** Warm functions: loaded once. Each run has workers of its own, because they remember request tokens. */

const runtime: Runtime = {
  now: () => current().runtime.now(),
  wallTime: () => current().runtime.wallTime(),
  newId: () => current().runtime.newId(),
  random: () => current().runtime.random(),
  randomBytes: (count) => current().runtime.randomBytes(count),
  pause: (milliseconds, signal) => current().runtime.pause(milliseconds, signal),
}

const makers = await Promise.all(
  functionRows.map(async (row) => [row.name, await loadFunction(row)] as const),
)

/** Returns a function that invokes one of a function's workers, which take turns. */
export const startWorkers = () => {
  const workers = new Map<string, LambdaHandler>(
    makers.flatMap(([name, make]) =>
      Array.from({ length: WORKERS }, (_, n) => [workerOf(name, n), make(runtime)] as const),
    ),
  )
  return (name: FunctionName, invocation: number, ...call: Parameters<LambdaHandler>) => {
    const worker = workers.get(workerOf(name, invocation)) as LambdaHandler
    return worker(...call)
  }
}

const timeouts = new Map(functionRows.map(({ name, timeoutSeconds }) => [name, timeoutSeconds]))

export const timeoutOf = (name: FunctionName): number => timeouts.get(name) ?? 0

AbortSignal.timeout = (milliseconds) => current().timeout(milliseconds)

export type Run = (
  name: FunctionName,
  event: unknown,
  onStart?: (invocation: number) => void,
) => Promise<InvocationResult<unknown>>
