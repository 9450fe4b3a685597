import type { Runtime } from '../../shared/runtime.ts'
import type { Network } from './network.ts'

/**
 * The world that is being lived through. Worlds come one after the other in a process, and what
 * takes the place of the platform (its clock, its sockets) asks current which one it is part of.
 */

type Here = {
  runtime: Runtime
  network: Network
  /** A signal that is aborted after a time of that world. */
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
