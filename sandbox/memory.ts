import { AsyncLocalStorage } from 'node:async_hooks'
import type { Aws } from './aws/aws.ts'
import { type Clock, type StoppableClock, stoppable } from './aws/clock.ts'
import type { Journal } from './aws/journal.ts'

/**
 * Holds the in-memory AWS, which a reset replaces. Invocations that began before the reset still see the
 * services that they began with, so that none of their writes reaches the new ones.
 */
export const newMemory = (clock: Clock, create: (clock: StoppableClock, scope: Scope) => Aws) => {
  const callers = new AsyncLocalStorage<Aws>()
  const open = () => {
    const own = stoppable(clock)
    const running = new Set<Promise<unknown>>()
    const scope: Scope = async (work) => {
      const result = callers.run(aws, work)
      running.add(result)
      try {
        return await result
      } finally {
        running.delete(result)
      }
    }
    const aws: Aws = create(own, scope)
    return { aws, scope, running, stop: own.stop }
  }
  let current = open()
  let replaced = Promise.resolve()
  return {
    /** Returns the services of the invocation that calls, or the newest. */
    aws: (): Aws => callers.getStore() ?? current.aws,
    /** Runs an invocation with the services of its caller, or else with the newest. */
    scope: (async (work) => {
      if (callers.getStore()) return work()
      await replaced
      return current.scope(work)
    }) as Scope,
    /** Invocations started since the last reset. */
    running: (): ReadonlySet<Promise<unknown>> => current.running,
    /** Replaces the services. Other invocations wait until `fill` has filled the new ones. */
    replace: (fill: () => Promise<void>): Promise<void> => {
      current.stop()
      current = open()
      replaced = fill()
      return replaced
    },
  }
}

/** Returns a journal that ignores what services write after a reset has replaced them. */
export const untilStopped = (
  { generation, write }: Journal,
  { isStopped }: StoppableClock,
): Journal => ({
  generation,
  write: (entry) => {
    if (!isStopped()) write(entry)
  },
})

export type Memory = ReturnType<typeof newMemory>

export type Scope = <T>(work: () => Promise<T>) => Promise<T>
