import type { Context } from 'aws-lambda'
import type { FunctionName } from '../../infra/definitions/function-permissions.ts'
import { functionRows } from '../../infra/definitions/functions.ts'
import type { Runtime } from '../../shared/runtime.ts'
import { current } from './current.ts'
import type { InvocationResult } from './invocations.ts'

/** Warm functions: loaded once. Each run has workers of its own, because they remember request tokens. */

// biome-ignore lint/suspicious/noExplicitAny: each function has an event and a reply of its own
type Handler = (event: any, context: Context) => Promise<unknown>

const runtime: Runtime = {
  now: () => current().runtime.now(),
  newId: () => current().runtime.newId(),
  random: () => current().runtime.random(),
  randomBytes: (count) => current().runtime.randomBytes(count),
  pause: (milliseconds, signal) => current().runtime.pause(milliseconds, signal),
}

type MakeHandler = (runtime: Runtime) => Handler

/** Loads a function; its module exports the handler and the function that makes one. */
const load = async (entry: string): Promise<MakeHandler> => {
  const { handler: _, ...others } = await import(`../../${entry}`)
  const [make] = Object.values(others) as [MakeHandler]
  return make
}

const makers = await Promise.all(
  functionRows.map(async ({ name, entry }) => [name, await load(entry)] as const),
)

const WORKERS = 3

/** Returns a function that invokes one of a function's workers, which take turns. */
export const startWorkers = () => {
  const workers = new Map<string, Handler>(
    makers.flatMap(([name, make]) =>
      Array.from({ length: WORKERS }, (_, n) => [`${name} ${n}`, make(runtime)] as const),
    ),
  )
  return (name: FunctionName, invocation: number, ...call: Parameters<Handler>) => {
    const worker = workers.get(`${name} ${invocation % WORKERS}`) as Handler
    return worker(...call)
  }
}

const timeouts = new Map(functionRows.map(({ name, timeoutSeconds }) => [name, timeoutSeconds]))

/** Returns a function's timeout, in seconds. */
export const timeoutOf = (name: FunctionName): number => timeouts.get(name) ?? 0

AbortSignal.timeout = (milliseconds) => current().timeout(milliseconds)

/** Invokes a function. */
export type Run = (
  name: FunctionName,
  event: unknown,
  /** Receives the number of the invocation. */
  onStart?: (invocation: number) => void,
) => Promise<InvocationResult<unknown>>
