import { vi } from 'vitest'

/** Repeats a check until it passes, as long as a busy machine needs. @throws its last error */
export const eventually = <T>(check: () => T | Promise<T>, seconds = 30): Promise<T> =>
  vi.waitFor(check, { timeout: seconds * 1_000, interval: 20 })
