import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Workers that may be lost at any side effect. What a worker writes, sends or posts is counted, so
 * that a test can have it die just before or just after the k-th of them.
 */

/** `dies`: it never goes on, nor does anything it had begun. `throws`: that one call fails. */
export type Death = { effect: number; when: 'before' | 'after'; how: 'dies' | 'throws' }

type Worker = { isDead: boolean; die: () => void }

/** What happens just before an effect, while its worker knows nothing of it. */
type Meanwhile = (name: string) => Promise<void>

export type Workers = ReturnType<typeof newWorkers>

const never = new Promise<never>(() => undefined)

export const newWorkers = () => {
  const atWork = new AsyncLocalStorage<Worker>()
  const effects: string[] = []
  let doomed: Death | undefined
  let inHand: Worker | undefined
  let meanwhile: Meanwhile | undefined

  const meet = (worker: Worker, how: Death['how']): Promise<never> => {
    if (how === 'throws') throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError' })
    worker.die()
    return never
  }

  const doing = async <T>(worker: Worker, name: string, act: () => Promise<T>): Promise<T> => {
    if (worker.isDead) return never
    effects.push(name)
    const death = doomed?.effect === effects.length ? doomed : undefined
    await meanwhile?.(name)
    if (death?.when === 'before') return meet(worker, death.how)
    const done = await act()
    if (death) return meet(worker, death.how)
    return worker.isDead ? never : done
  }

  return {
    /** What was done so far, by name. */
    effects,
    /** @param death counted from what is done next, from 1 */
    doom: (death: Death): void => {
      doomed = { ...death, effect: effects.length + death.effect }
    },
    /** That death, and the name of its effect, once it came. */
    met: (): (Death & { name: string }) | undefined => {
      const name = doomed && effects[doomed.effect - 1]
      return doomed && name !== undefined ? { ...doomed, name } : undefined
    },
    interleave: (happens: Meanwhile): void => {
      meanwhile = happens
    },
    /** What comes of some work; undefined: its worker died. */
    run: async <T>(work: () => Promise<T>): Promise<T | undefined> => {
      const gone = Promise.withResolvers<undefined>()
      const worker = {
        isDead: false,
        die: () => {
          worker.isDead = true
          gone.resolve(undefined)
        },
      }
      inHand = worker
      return atWork.run(worker, () => Promise.race([work(), gone.promise]))
    },
    /** A side effect of whoever calls; the test's own are not counted. */
    effect: <T>(name: string, act: () => Promise<T>): Promise<T> => {
      const worker = atWork.getStore()
      return worker ? doing(worker, name, act) : act()
    },
    /** One that is felt at its far end, where nobody sees the caller: it is the one in hand. */
    effectFromAfar: <T>(name: string, act: () => Promise<T>): Promise<T> =>
      inHand ? doing(inHand, name, act) : act(),
    /** A read changes nothing, but the dead do not read. */
    read: <T>(act: () => Promise<T>): Promise<T> => (atWork.getStore()?.isDead ? never : act()),
  }
}
