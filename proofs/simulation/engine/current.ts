import type { Runtime } from '../../../shared/runtime.ts'
import type { Network } from './network.ts'

/**
 * The current run. Runs follow each other in one process; the replaced platform modules look here.
 */

type Here = {
  runtime: Runtime
  network: Network
  /** Returns a signal that aborts after a simulated time. */
  timeout: (milliseconds: number) => AbortSignal
}

let world: Here | undefined

export const enter = (entered: Here): void => {
  world = entered
}

export const current = (): Here => {
  if (!world) throw new Error('There is no world')
  return world
}
