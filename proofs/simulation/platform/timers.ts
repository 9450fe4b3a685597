import { current } from '../engine/current.ts'

export const setTimeout = (
  milliseconds: number,
  _value?: unknown,
  { signal }: { signal?: AbortSignal } = {},
): Promise<unknown> => current().runtime.pause(milliseconds, signal)
