import { ConnectorFault } from '../banks/connector.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Batch, isEarlyPayout, payoutDay, payoutOf } from '../domain/settlement/batch.ts'
import type { RunResult } from '../domain/settlement/run.ts'
import { type Day, startOf } from '../domain/time.ts'
import { log } from '../log.ts'
import { environment } from '../runtime.ts'
import { findBatches, listPayable } from '../store/settlement/batches.ts'
import { buildBatch } from './build.ts'
import { type PaymentDeps, payBatch } from './pay.ts'
import { notPayable } from './payee.ts'

type RunRequest = { date: Day; providers: readonly ProviderId[]; timeIsUp: () => boolean }

/** Builds, then pays: the run of a day as an operator starts it for some providers. */
export const runSettlement = async (
  { date, providers, timeIsUp }: RunRequest,
  deps: PaymentDeps,
): Promise<RunResult> => {
  const result: RunResult = { built: [], paid: [], unpaid: [], unbuilt: [], due: [], underway: [] }
  // Read before the build: a batch is due on the day after it was built.
  const payable = await payableOf(providers, date)
  for (const provider of providers) {
    const build = timeIsUp()
      ? { batches: [], isDone: false }
      : await buildBatch({ provider, date, timeIsUp }, deps.runtime)
    result.built.push(...(await findBatches(build.batches)))
    if (!build.isDone) result.unbuilt.push(provider)
  }
  for (const batch of payable) {
    const early = refusalOfEarly(batch, deps.runtime.now())
    const paid = early ?? (timeIsUp() ? undefined : await payIfReachable(batch, deps))
    if (paid === undefined) result.due.push(batch)
    else if (paid instanceof Refusal) result.unpaid.push({ batch: batch.id, reason: paid })
    else if (payoutOf(paid) === 'retries') {
      const reason = notPayable(`the payout failed: ${paid.failure}`)
      result.unpaid.push({ batch: batch.id, reason })
    } else if (payoutOf(paid) === 'resumes') result.underway.push(paid)
    else result.paid.push(paid)
  }
  return result
}

/** With approvals, no run of a later day pays before the day of a payout. */
const refusalOfEarly = (batch: Batch, at: Date): Refusal | undefined =>
  environment.requiresApprovals && isEarlyPayout(batch, at)
    ? notPayable(`payable on ${payoutDay(batch)}: settlement process requests an approval`)
    : undefined

/** Returns undefined if the bank gives no reply, so that the other batches are still paid. */
const payIfReachable = async ({ id, provider }: Batch, deps: PaymentDeps) => {
  try {
    return await payBatch(id, deps)
  } catch (error) {
    if (!(error instanceof ConnectorFault)) throw error
    log.warn('batch payment left to its job', { batch: id, provider, error })
    return undefined
  }
}

const payableOf = async (providers: readonly ProviderId[], date: Day): Promise<Batch[]> => {
  const due = await findBatches(await listPayable(startOf(date)))
  return due.filter(({ provider }) => providers.includes(provider))
}
