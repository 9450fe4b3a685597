import { current } from '../engine/current.ts'

export const setTimeout = (act: () => void, milliseconds: number): AbortController => {
  const stopped = new AbortController()
  current()
    .runtime.pause(milliseconds, stopped.signal)
    .then(act, () => undefined)
  return stopped
}

export const clearTimeout = (timer: AbortController | undefined): void => timer?.abort()
