import type { ProviderId } from '../domain/providers/provider.ts'
import type { Day } from '../domain/settlement/batch.ts'
import { log } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { acquireLease, completeBuild, releaseLease } from '../store/settlement/build-lease.ts'
import { type BuildResult, buildBatch } from './build.ts'

/**
 * Builds the batches of a provider and a day unless another builder is at work on them. Work that
 * is not done when the time is over is left to the next builder.
 * @returns undefined when another builder is at work
 */
export const buildWithLease = async (
  request: { provider: ProviderId; date: Day },
  runtime: Runtime,
  isOver: () => boolean,
): Promise<BuildResult | undefined> => {
  const turn = await acquireLease(request, runtime)
  if (!turn) {
    log.info('batch is being built by another run', request)
    return undefined
  }
  try {
    const built = await buildBatch(request, runtime, isOver)
    await (built.isDone ? completeBuild(turn) : releaseLease(turn, { isContinued: true }))
    return built
  } catch (error) {
    // The message comes again, and so does the sweep.
    await releaseLease(turn, { isContinued: false }).catch(() => undefined)
    throw error
  }
}
