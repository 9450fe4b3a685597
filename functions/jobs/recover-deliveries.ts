import {
  autoRetry,
  type Delivery,
  deliveryStatuses,
  redeliver,
} from '../../shared/domain/webhooks/delivery.ts'
import {
  afterPage,
  dueInPage,
  RECOVERY_PAGE,
  type Recovery,
} from '../../shared/domain/webhooks/recovery.ts'
import { log } from '../../shared/log.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import {
  findDelivery,
  listUndelivered,
  replaceDelivery,
} from '../../shared/store/webhooks/deliveries.ts'
import { findRecovery, putPage } from '../../shared/store/webhooks/recoveries.ts'

/**
 * Recovers one page of undelivered events (docs/api.md#recovery). Writes the attempts as due, spread
 * over time, and the next page; the relay sends the messages of both.
 */
export const recoverDeliveries = (runtime: Pick<Runtime, 'now'>) =>
  consumer('recoveries', async ({ provider, id, page }) => {
    const recovery = await findRecovery(provider, id)
    if (recovery?.status !== 'running' || recovery.page !== page) return
    const now = runtime.now()
    const undelivered = await listUndelivered(provider, recovery, {
      after: recovery.cursor,
      limit: RECOVERY_PAGE,
    })
    let retried = 0
    for (const { reference, n } of undelivered) {
      const delivery = await findDelivery(reference, n)
      const next = delivery && retryOf(recovery, delivery, dueInPage(now, retried))
      // A changed record belongs to another worker.
      if (delivery && next && (await replaceDelivery(delivery, next))) retried += 1
    }
    const cursor = undelivered.at(-1)?.byTime ?? null
    const isLast = undelivered.length < RECOVERY_PAGE
    const next = afterPage(recovery, { cursor, retried, isLast }, runtime.now())
    if (await putPage(next)) {
      log.info('deliveries recovered', { provider, id, page, retried, total: next.count, isLast })
    }
  })

/** Retries every undelivered event if an operator requested the recovery, else abandoned ones. */
const retryOf = ({ kind, until }: Recovery, delivery: Delivery, at: Date): Delivery | undefined => {
  if (kind === 'automatic') return autoRetry(delivery, at)
  // Not a pending one: an earlier run of this page or a redelivery has requested the attempt.
  const isFailed = deliveryStatuses[delivery.status].recovery !== 'none'
  const isLater = delivery.last && delivery.last.at > until
  return isFailed && !delivery.deliveredAt && !isLater ? redeliver(delivery, at) : undefined
}

export const handler = recoverDeliveries(real)
