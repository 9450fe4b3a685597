import { AsyncLocalStorage } from 'node:async_hooks'
import { type Clock, cancel } from '../../../sandbox/aws/clock.ts'
import type { FaultName, Faults } from './faults.ts'
import type { Random } from './random.ts'

/** Invocations of functions; each may crash at any moment. */

export type Invocation = {
  readonly name: string
  readonly number: number
  /** One of its function's workers, which take turns. */
  readonly worker: string
  readonly skew: number
  /** By a crash or a reply: Lambda freezes its process. */
  hasEnded: boolean
  /** The writes and messages for which it did not wait. */
  readonly late: string[]
  /** The messages that SQS refused. */
  readonly refused: string[]
  crash: () => void
}

const atWork = new AsyncLocalStorage<Invocation>()

/** Returns the current invocation; undefined in the simulator itself. */
export const currentInvocation = (): Invocation | undefined => atWork.getStore()

export const WORKERS = 3

export const workerOf = (name: string, number: number): string => `${name} ${number % WORKERS}`

/** Returns a new promise each time: a shared one would retain every waiter. */
export const never = (): Promise<never> => new Promise(() => undefined)

/** The faults of clocks, and the largest offset of each. */
const SKEWS = [['clock far off', 180_000] as const, ['clock skew', 5_000] as const]

/** Returns the largest offset in a scenario with these faults. */
export const skewOf = (faults: ReadonlySet<FaultName>): number =>
  SKEWS.find(([name]) => faults.has(name))?.[1] ?? 0

export const drawSkew = (faults: Faults, random: Random) => (): number => {
  const [, most = 0] = SKEWS.find(([name]) => faults.strikes(name)) ?? []
  return most && random.between(-most, most)
}

export type InvocationResult<T> =
  | { kind: 'done'; value: T }
  | { kind: 'threw'; error: unknown }
  | { kind: 'crashed' }

type Deps = { clock: Clock; skew: () => number }

export type Invocations = ReturnType<typeof newInvocations>

export const newInvocations = ({ clock, skew }: Deps) => {
  let count = 0
  const running = new Set<Invocation>()
  return {
    crashAll: (): void => {
      for (const invocation of running) invocation.crash()
    },
    run: <T>(name: string, timeoutSeconds: number, work: () => Promise<T>) => {
      count += 1
      const { promise, resolve } = Promise.withResolvers<InvocationResult<T>>()
      // Only the first result counts.
      const end = (result: InvocationResult<T>): void => {
        cancel(timeout)
        invocation.hasEnded = true
        running.delete(invocation)
        resolve(result)
      }
      const invocation: Invocation = {
        name,
        number: count,
        worker: workerOf(name, count),
        skew: skew(),
        hasEnded: false,
        late: [],
        refused: [],
        crash: () => end({ kind: 'crashed' }),
      }
      running.add(invocation)
      const timeout = clock.after(timeoutSeconds * 1000, invocation.crash)
      atWork.run(invocation, work).then(
        (value) => end({ kind: 'done', value }),
        (error: unknown) => end({ kind: 'threw', error }),
      )
      return promise
    },
  }
}
