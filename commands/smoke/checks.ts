import type { CallVerb } from '../../shared/operator/results.ts'
import type { Api } from './api.ts'
import type { Objects } from './objects.ts'
import type { Receiver } from './receiver.ts'

/**
 * Runs a check and prints its line. The call never rejects, so that later checks run.
 * @returns a getter of its result, which throws if the check failed
 */
export type RunCheck = <T>(name: string, run: () => Promise<T>) => Promise<() => T>

/** Repeats an attempt until it does not throw a Mismatch. */
export type Within = <T>(seconds: number, attempt: () => Promise<T>) => Promise<T>

/** The calls of a run, and its objects. */
export type Smoke = {
  check: RunCheck
  within: Within
  api: Api
  operator: CallVerb
  objects: Objects
  receiver: Receiver | undefined
}
