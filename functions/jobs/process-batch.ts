import { Refusal } from '../../shared/domain/refusal.ts'
import { log } from '../../shared/log.ts'
import { measure } from '../../shared/metrics.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { payBatch, paymentDeps } from '../../shared/settlement/pay.ts'

/** Pays a due batch (docs/api.md#payouts). One that cannot be paid waits for the next night. */
export const processBatch = (runtime: Runtime) =>
  consumer('payments', async ({ batch }) => {
    const paid = await payBatch(batch, paymentDeps(runtime))
    if (!(paid instanceof Refusal)) return
    const { code, message } = paid.error
    log.warn('batch not paid', { batch, code, message, details: paid.details })
    // 5005 is a duplicate message.
    if (code === 5001) measure({ SettlementNotPaid: 1 })
  })

export const handler = processBatch(real)
