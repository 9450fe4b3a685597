import { current } from '../engine/current.ts'

/** Replaces `node:timers/promises`. */
export const setTimeout = (
  milliseconds: number,
  _value?: unknown,
  { signal }: { signal?: AbortSignal } = {},
): Promise<unknown> => current().runtime.pause(milliseconds, signal)
