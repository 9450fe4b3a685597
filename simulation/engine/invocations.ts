import { AsyncLocalStorage } from 'node:async_hooks'
import { type Clock, cancel } from './clock.ts'

/** Workers: each does one piece of work, and may be lost at any moment of it. */

export type Invocation = {
  readonly name: string
  readonly number: number
  /** How far its clock is away from that of the world, in milliseconds. */
  readonly skew: number
  isCrashed: boolean
  crash: () => void
}

const atWork = new AsyncLocalStorage<Invocation>()

/** Whose work this is; undefined: nobody's that could be lost. */
export const currentInvocation = (): Invocation | undefined => atWork.getStore()

/** A promise of its own for each who waits: one for all would remember everybody who ever did. */
export const never = (): Promise<never> => new Promise(() => undefined)

export type InvocationResult<T> =
  | { kind: 'done'; value: T }
  | { kind: 'threw'; error: unknown }
  | { kind: 'crashed' }

type Deps = {
  clock: Clock
  /** How far the clock of the next one is away. */
  skew: () => number
}

export type Invocations = ReturnType<typeof newInvocations>

export const newInvocations = ({ clock, skew }: Deps) => {
  let count = 0
  return {
    /** What comes of some work, of which a function has so much time. */
    run: <T>(
      name: string,
      timeoutSeconds: number,
      work: () => Promise<T>,
    ): Promise<InvocationResult<T>> => {
      count += 1
      const { promise, resolve } = Promise.withResolvers<InvocationResult<T>>()
      // What comes after the first end is nobody's: a promise is resolved once.
      const end = (came: InvocationResult<T>): void => {
        cancel(timeout)
        resolve(came)
      }
      const invocation: Invocation = {
        name,
        number: count,
        skew: skew(),
        isCrashed: false,
        crash: () => {
          invocation.isCrashed = true
          end({ kind: 'crashed' })
        },
      }
      const timeout = clock.after(timeoutSeconds * 1000, invocation.crash)
      atWork.run(invocation, work).then(
        (value) => end({ kind: 'done', value }),
        (error: unknown) => end({ kind: 'threw', error }),
      )
      return promise
    },
  }
}
