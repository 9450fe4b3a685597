import { Refusal } from '../../shared/domain/refusal.ts'
import { log } from '../../shared/log.ts'
import { measure } from '../../shared/metrics.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { payBatch } from '../../shared/settlement/pay.ts'
import { paymentDeps } from '../../shared/settlement/payment-deps.ts'

/**
 * Pays a batch on the day after it was built (specification, What the service does, 6). One that
 * cannot be paid is told, and waits for the next night.
 */
export const processBatch = (runtime: Runtime) =>
  consumer('payments', async ({ batch }) => {
    const paid = await payBatch(batch, paymentDeps(runtime))
    if (!(paid instanceof Refusal)) return
    const { code, message } = paid.error
    log.warn('batch not paid', { batch, code, message, details: paid.details })
    // 5005: the message came twice.
    if (code === 5001) measure({ SettlementNotPaid: 1 })
  })

export const handler = processBatch(real)
