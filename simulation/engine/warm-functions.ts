import type { Context } from 'aws-lambda'
import type { FunctionName } from '../../infra/definitions/function-permissions.ts'
import { functionRows } from '../../infra/definitions/functions.ts'
import type { Runtime } from '../../shared/runtime.ts'
import { current } from './current.ts'
import type { InvocationResult } from './invocations.ts'

/** Warm functions: loaded once, they serve one run after the other. */

// biome-ignore lint/suspicious/noExplicitAny: each function has an event and a reply of its own
type Handler = (event: any, context: Context) => Promise<unknown>

const runtime: Runtime = {
  now: () => current().runtime.now(),
  newId: () => current().runtime.newId(),
  random: () => current().runtime.random(),
  randomBytes: (count) => current().runtime.randomBytes(count),
  pause: (milliseconds, signal) => current().runtime.pause(milliseconds, signal),
}

/** Loads a function; its module exports the handler and the function that makes one. */
const load = async (entry: string): Promise<Handler> => {
  const { handler: _, ...others } = await import(`../../${entry}`)
  const [make] = Object.values(others) as [(runtime: Runtime) => Handler]
  return make(runtime)
}

export const functions = Object.fromEntries(
  await Promise.all(functionRows.map(async ({ name, entry }) => [name, await load(entry)])),
) as Record<FunctionName, Handler>

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
