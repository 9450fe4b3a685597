import type { CallVerb } from '../../shared/operator/results.ts'
import type { Api } from './api.ts'
import type { Objects } from './objects.ts'
import type { Receiver } from './receiver.ts'

/** One line of the result; `run` throws if the check fails. */
export type SmokeCheck = { name: string; run: () => Promise<unknown> }

/** Checks that run in order, because a later one needs a result of an earlier one. */
export type CheckSequence = readonly SmokeCheck[]

export type CheckDeps = {
  api: Api
  operator: CallVerb
  objects: Objects
  receiver: Receiver | undefined
  signal: AbortSignal
}
