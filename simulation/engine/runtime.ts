import type { Runtime } from '../../shared/runtime.ts'
import { type Clock, cancel } from './clock.ts'
import { currentInvocation } from './invocations.ts'
import type { Random } from './random.ts'

/** What no recorded event can pin, out of the seed of a world. */

const hex = (random: Random, digits: number): string =>
  Array.from({ length: digits }, () => random.below(16).toString(16)).join('')

/** A version 4 uuid, as `randomUUID` gives it. */
const uuidOf = (random: Random): string =>
  [
    hex(random, 8),
    hex(random, 4),
    `4${hex(random, 3)}`,
    `${random.pick(['8', '9', 'a', 'b'])}${hex(random, 3)}`,
    hex(random, 12),
  ].join('-')

export const runtimeOf = (clock: Clock, random: Random): Runtime => ({
  now: () => new Date(Math.floor(clock.now() + (currentInvocation()?.skew ?? 0))),
  newId: () => uuidOf(random),
  random: random.draw,
  randomBytes: (count) => Buffer.from(hex(random, 2 * count), 'hex'),
  pause: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      const worker = currentInvocation()
      const timer = clock.after(milliseconds, () => {
        if (!worker?.isCrashed) resolve(undefined)
      })
      signal?.addEventListener('abort', () => {
        cancel(timer)
        reject(signal.reason)
      })
    }),
})

// One for all: most of these end what has ended already, and to make one costs more than the rest.
const passed = new DOMException('The operation timed out', 'TimeoutError')

/**
 * In place of `AbortSignal.timeout`, which has the clock of this machine. Most are over before
 * their time: those that nobody can be waiting for pass without a trace.
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
