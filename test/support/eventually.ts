import { vi } from 'vitest'

/** Repeats a check until it passes. It waits as long as a busy machine needs. @throws its last error */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 30_000, interval: 20 })
