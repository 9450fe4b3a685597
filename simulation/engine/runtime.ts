import type { Runtime } from '../../shared/runtime.ts'
import { type Clock, cancel } from './clock.ts'
import { current } from './invocations.ts'
import type { Chance } from './random.ts'

/** What no recorded event can pin, out of the seed of a world. */

const hex = (chance: Chance, digits: number): string =>
  Array.from({ length: digits }, () => chance.below(16).toString(16)).join('')

/** A version 4 uuid, as `randomUUID` gives it. */
const uuidOf = (chance: Chance): string =>
  [
    hex(chance, 8),
    hex(chance, 4),
    `4${hex(chance, 3)}`,
    `${chance.pick(['8', '9', 'a', 'b'])}${hex(chance, 3)}`,
    hex(chance, 12),
  ].join('-')

export const runtimeOf = (clock: Clock, chance: Chance): Runtime => ({
  now: () => new Date(Math.floor(clock.now() + (current()?.skew ?? 0))),
  newId: () => uuidOf(chance),
  random: chance.draw,
  randomBytes: (count) => Buffer.from(hex(chance, 2 * count), 'hex'),
  pause: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      const worker = current()
      const timer = clock.after(milliseconds, () => {
        if (!worker?.isDead) resolve(undefined)
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
