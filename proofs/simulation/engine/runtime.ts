import { type Clock, cancel } from '../../../sandbox/aws/clock.ts'
import type { Runtime } from '../../../shared/runtime.ts'
import { currentInvocation } from './invocations.ts'
import type { Random } from './random.ts'

/** The simulated runtime: its clock, ids and randomness come from the seed. */

const hex = (random: Random, digits: number): string => {
  let text = ''
  while (text.length < digits) text += random.below(16).toString(16)
  return text
}

const uuidOf = (random: Random): string =>
  [
    hex(random, 8),
    hex(random, 4),
    `4${hex(random, 3)}`,
    `${random.pick(['8', '9', 'a', 'b'])}${hex(random, 3)}`,
    hex(random, 12),
  ].join('-')

const timeOf = (clock: Clock) => () =>
  new Date(Math.floor(clock.now() + (currentInvocation()?.skew ?? 0)))

export const runtimeOf = (clock: Clock, random: Random): Runtime => ({
  now: timeOf(clock),
  wallTime: timeOf(clock),
  newId: () => uuidOf(random),
  random: random.draw,
  randomBytes: (count) => Buffer.from(hex(random, 2 * count), 'hex'),
  pause: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      const worker = currentInvocation()
      const timer = clock.after(milliseconds, () => {
        if (!worker?.hasEnded) resolve(undefined)
      })
      signal?.addEventListener('abort', () => {
        cancel(timer)
        reject(signal.reason)
      })
    }),
})

// Shared, as creating one is expensive and most are never seen.
const passed = new DOMException('The operation timed out', 'TimeoutError')

/**
 * Replaces `AbortSignal.timeout`, which uses the real clock. Most signals outlive their request;
 * those that no sender waits for do not count as steps.
 */
export const timeoutsOf =
  (clock: Clock, isAwaited: () => boolean) =>
  (milliseconds: number): AbortSignal => {
    const controller = new AbortController()
    clock.after(milliseconds, () => {
      if (!isAwaited()) return false
      controller.abort(passed)
      return true
    })
    return controller.signal
  }
