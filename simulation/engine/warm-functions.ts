import { jobs } from '../../infra/definitions/jobs.ts'
import type { Runtime } from '../../shared/runtime.ts'
import { current } from './current.ts'
import { type FunctionName, functionsOf, type Handler } from './functions.ts'
import type { InvocationResult } from './invocations.ts'

/** Warm functions: loaded once, they serve one run after the other. */

const runtime: Runtime = {
  now: () => current().runtime.now(),
  newId: () => current().runtime.newId(),
  random: () => current().runtime.random(),
  randomBytes: (count) => current().runtime.randomBytes(count),
  pause: (milliseconds, signal) => current().runtime.pause(milliseconds, signal),
}

export const functions: Record<FunctionName, Handler> = functionsOf(runtime)

const ENDPOINT_SECONDS = 28
const OPERATOR_SECONDS = 900

/** Returns a function's timeout, in seconds. */
export const timeoutOf = (name: FunctionName): number =>
  name in jobs
    ? jobs[name as keyof typeof jobs].timeoutSeconds
    : name.startsWith('manage-')
      ? OPERATOR_SECONDS
      : ENDPOINT_SECONDS

AbortSignal.timeout = (milliseconds) => current().timeout(milliseconds)

/** Invokes a function. */
export type Run = (
  name: FunctionName,
  event: unknown,
  /** Receives the number of the invocation. */
  onStart?: (invocation: number) => void,
) => Promise<InvocationResult<unknown>>
