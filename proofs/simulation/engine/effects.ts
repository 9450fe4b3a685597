import type { Engine, FaultName } from './faults.ts'
import { currentInvocation, type Invocation, never } from './invocations.ts'
import type { Trace } from './trace.ts'

/**
 * Calls from functions to AWS and to peers. Each takes time, and a function may crash just before
 * or after one that has an effect.
 */

/** A crash at the effect with this number, from 1. */
export type Crash = { effect: number; when: 'before' | 'after' }

/** A call, and whether it has an effect. `takes` is in milliseconds. */
export type Outgoing = { name: string; changes: boolean; takes: readonly [number, number] }

type Deps = Engine & { trace: Trace; crashes: readonly Crash[] }

/** Functions with a fault that slows their calls, by up to so many milliseconds. */
const SLOW: Record<string, readonly [FaultName, number]> = {
  'build-batch': ['slow settlement', 60_000],
  sweep: ['slow sweep', 5_000],
}

export type Effects = ReturnType<typeof newEffects>

export const newEffects = ({ clock, random, faults, trace, crashes }: Deps) => {
  let count = 0
  const list: { name: string; at: number }[] = []
  let writer: Invocation | undefined
  let acting: { worker: Invocation; name: string } | undefined

  const shouldCrash = (when: Crash['when']): boolean =>
    crashes.some((crash) => crash.effect === count && crash.when === when) ||
    faults.strikes(when === 'before' ? 'killed before an effect' : 'killed after an effect')

  const isLost = (worker: Invocation, when: Crash['when'], name: string): boolean => {
    if (!shouldCrash(when)) return false
    trace.log(`${worker.name}#${worker.number} crashes ${when} ${name}`)
    worker.crash()
    return true
  }

  const arrive = <T>({ name, changes }: Outgoing, worker: Invocation, act: () => T) => {
    if (!changes) return act()
    count += 1
    list.push({ name, at: clock.now() })
    if (isLost(worker, 'before', name)) return undefined
    writer = worker
    try {
      return act()
    } finally {
      writer = undefined
      isLost(worker, 'after', name)
    }
  }

  const hasEnded = (worker: Invocation, { name, changes }: Outgoing): boolean => {
    if (worker.hasEnded && changes) worker.late.push(name)
    return worker.hasEnded
  }

  return {
    list,
    writer: (): Invocation | undefined => writer,
    /** The invocation whose call happens, and its name. */
    acting: () => acting,
    /** Performs a call for the current invocation, or at once outside of any. */
    call: <T>(outgoing: Outgoing, act: () => T): Promise<T> => {
      const worker = currentInvocation()
      if (!worker) return new Promise((resolve) => resolve(act()))
      if (hasEnded(worker, outgoing)) return never()
      return new Promise((resolve, reject) => {
        const happen = () => {
          if (hasEnded(worker, outgoing)) return
          acting = { worker, name: outgoing.name }
          try {
            const result = arrive(outgoing, worker, act)
            trace.log(`${worker.name}#${worker.number} ${outgoing.name}`)
            if (!worker.hasEnded) resolve(result as T)
          } catch (error) {
            trace.log(`${worker.name}#${worker.number} ${outgoing.name}: ${nameOf(error)}`)
            if (!worker.hasEnded) reject(error)
          } finally {
            acting = undefined
          }
        }
        const stall = faults.strikes('stalled worker') ? random.between(1_000, 900_000) : 0
        const slow = SLOW[worker.name]
        const delay = stall + (slow && faults.strikes(slow[0]) ? random.between(1_000, slow[1]) : 0)
        clock.after(random.between(...outgoing.takes) + delay, happen)
      })
    },
  }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : String(error))
