import { current } from '../engine/current.ts'

/** Replaces the timers of this machine: a pause takes the time of the world. */
export const setTimeout = (
  milliseconds: number,
  _value?: unknown,
  { signal }: { signal?: AbortSignal } = {},
): Promise<unknown> => current().runtime.pause(milliseconds, signal)
