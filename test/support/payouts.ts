import type { BatchId } from '../../shared/domain/ids.ts'
import { real } from '../../shared/runtime.ts'
import { findBatch, replaceBatches } from '../../shared/store/settlement/batches.ts'
import { eventually } from './eventually.ts'

/** Waits until a payout is in progress, and makes its last sending a minute older: no worker is sending it. */
export const untilPayoutWaits = (id: string): Promise<void> =>
  eventually(async () => {
    const previous = await findBatch(id as BatchId)
    if (previous?.status !== 'processing') throw new Error(`The payout is ${previous?.status}`)
    const next = { ...previous, sentAt: new Date(Date.now() - 61_000) }
    const { kind } = await replaceBatches([{ previous, next }], {}, real)
    if (kind !== 'written') throw new Error(kind)
  })
