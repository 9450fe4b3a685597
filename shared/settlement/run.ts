import { ConnectorFault } from '../banks/connector-fault.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Batch, type BatchId, type Day, startOf } from '../domain/settlement/batch.ts'
import { log } from '../log.ts'
import { findBatches, listPayable } from '../store/settlement/batches.ts'
import { buildWithLease } from './lease.ts'
import { type PaymentDeps, payBatch } from './pay.ts'

/** The whole run of a day, one thing after the other, as an operator tries it out. */

export type RunResult = {
  built: Batch[]
  paid: Batch[]
  /** Batches that were due and could not be paid, and why. */
  unpaid: { batch: BatchId; reason: Refusal }[]
  /** Providers whose batches there was no time to build, or that another builder is at work on. */
  left: ProviderId[]
  /** Batches that there was no time to pay, or whose bank gave no answer. */
  due: Batch[]
}

export const runSettlement = async (
  date: Day,
  providers: readonly ProviderId[],
  world: PaymentDeps,
  isOver: () => boolean,
): Promise<RunResult> => {
  const ran: RunResult = { built: [], paid: [], unpaid: [], left: [], due: [] }
  // What was built on the day before, not what is built now.
  const payable = await payableOf(providers, date)
  for (const provider of providers) {
    const built = isOver()
      ? undefined
      : await buildWithLease({ provider, date }, world.runtime, isOver)
    if (built) ran.built.push(...(await findBatches(built.batches)))
    if (!built?.isDone) ran.left.push(provider)
  }
  for (const batch of payable) {
    const paid = isOver() ? undefined : await payOrLeave(batch, world)
    if (paid === undefined) ran.due.push(batch)
    else if (paid instanceof Refusal) ran.unpaid.push({ batch: batch.id, reason: paid })
    else ran.paid.push(paid)
  }
  return ran
}

/** A bank that gives no answer keeps nobody else from being paid. */
const payOrLeave = async ({ id, provider }: Batch, world: PaymentDeps) => {
  try {
    return await payBatch(id, world)
  } catch (error) {
    if (!(error instanceof ConnectorFault)) throw error
    log.warn('batch payment left to its job', { batch: id, provider, error })
    return undefined
  }
}

/** A run for one provider pays nobody else. */
const payableOf = async (providers: readonly ProviderId[], date: Day): Promise<Batch[]> => {
  const due = await findBatches(await listPayable(startOf(date)))
  return due.filter(({ provider }) => providers.includes(provider))
}
