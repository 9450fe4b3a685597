import { log } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { acquireLease, completeBuild, releaseLease } from '../store/settlement/build-lease.ts'
import { type BuildRequest, buildBatch } from './build.ts'

/** Builds batches under a lease. @returns undefined if another builder holds the lease */
export const buildWithLease = async (request: BuildRequest, runtime: Runtime) => {
  const lease = await acquireLease(request, runtime)
  if (!lease) {
    log.info('batch is being built by another run', {
      provider: request.provider,
      date: request.date,
    })
    return undefined
  }
  try {
    const result = await buildBatch(request, runtime)
    await (result.isDone ? completeBuild(lease) : releaseLease(lease, { isContinued: true }))
    return result
  } catch (error) {
    // The SQS retry and the sweep continue the build.
    await releaseLease(lease, { isContinued: false }).catch(() => undefined)
    throw error
  }
}
