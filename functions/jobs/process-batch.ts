import { Refusal } from '../../shared/domain/refusal.ts'
import { log } from '../../shared/log.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { payBatch, paymentDeps } from '../../shared/settlement/pay.ts'
import { FreeDay } from '../../shared/settlement/payout-day.ts'

/** Pays a due batch (docs/api.md#payouts). One that cannot be paid today waits for the next night. */
export const processBatch = (runtime: Runtime) =>
  consumer('payments', async ({ batch }) => {
    const paid = await payBatch(batch, paymentDeps(runtime))
    if (!(paid instanceof Refusal)) return
    const { code, message } = paid.error
    // 5005 is a duplicate message.
    const figures = code === 5001 && !(paid instanceof FreeDay) ? { SettlementNotPaid: 1 } : {}
    log.warn('batch not paid', { batch, code, message, details: paid.details }, figures)
  })

export const handler = processBatch(real)
