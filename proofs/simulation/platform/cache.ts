import { ttlCache as productCache } from '../../../shared/store/cache.ts'
import { current } from '../engine/current.ts'
import { currentInvocation } from '../engine/invocations.ts'

/** Replaces the caches: each worker of a run has its own, although all share one process. */
export const ttlCache = <T>(entriesMax: number, factor?: number) => {
  type Cache = ReturnType<typeof productCache<T>>
  const runs = new WeakMap<object, Map<string, Cache>>()
  const own = (): Cache => {
    const workers = runs.get(current()) ?? new Map<string, Cache>()
    runs.set(current(), workers)
    const worker = currentInvocation()?.worker ?? ''
    const cache = workers.get(worker) ?? productCache<T>(entriesMax, factor)
    workers.set(worker, cache)
    return cache
  }
  return Object.assign((...read: Parameters<Cache>) => own()(...read), {
    set: (...entry: Parameters<Cache['set']>) => own().set(...entry),
  })
}
