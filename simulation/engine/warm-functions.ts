import { jobs } from '../../infra/definitions/jobs.ts'
import type { Runtime } from '../../shared/runtime.ts'
import { current } from './current.ts'
import { type FunctionName, functionsOf, type Handler } from './functions.ts'
import type { InvocationResult } from './invocations.ts'

/** Functions that are loaded once, and run in one world after the other. */

/** A warm function outlives a world, so it asks for the clock and the luck of the one it is in. */
const runtime: Runtime = {
  now: () => current().runtime.now(),
  newId: () => current().runtime.newId(),
  random: () => current().runtime.random(),
  randomBytes: (count) => current().runtime.randomBytes(count),
  pause: (milliseconds, signal) => current().runtime.pause(milliseconds, signal),
}

export const functions: Record<FunctionName, Handler> = functionsOf(runtime)

const ENDPOINT_SECONDS = 28

/** How long a function may take. */
export const timeoutOf = (name: FunctionName): number =>
  name in jobs ? jobs[name as keyof typeof jobs].timeoutSeconds : ENDPOINT_SECONDS

AbortSignal.timeout = (milliseconds) => current().timeout(milliseconds)

/** Has a function do a piece of work, and says what came of it. */
export type Run = (
  name: FunctionName,
  event: unknown,
  /** Told of the number of the invocation. */
  onStart?: (invocation: number) => void,
) => Promise<InvocationResult<unknown>>
