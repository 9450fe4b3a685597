import { autoRetry, type Delivery, redeliver } from '../../shared/domain/webhooks/delivery.ts'
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
 * Takes up one page of what a webhook did not receive. The attempts are written as due, a little
 * apart, and the table's stream has them made; the next page is written too, and comes the same way.
 */
export const recoverDeliveries = (runtime: Pick<Runtime, 'now'>) =>
  consumer('recoveries', async ({ provider, id, page }) => {
    const recovery = await findRecovery(provider, id)
    if (recovery?.status !== 'running' || recovery.page !== page) return
    const now = runtime.now()
    const found = await listUndelivered(provider, recovery, {
      after: recovery.cursor,
      limit: RECOVERY_PAGE,
    })
    let taken = 0
    for (const { reference, n } of found) {
      const delivery = await findDelivery(reference, n)
      const next = delivery && takenUp(recovery, delivery, dueInPage(now, taken))
      // One that changed meanwhile is in other hands.
      if (delivery && next && (await replaceDelivery(delivery, next))) taken += 1
    }
    const cursor = found.at(-1)?.byTime ?? null
    const isLast = found.length < RECOVERY_PAGE
    const after = afterPage(recovery, { cursor, taken, isLast }, runtime.now())
    if (await putPage(after)) {
      log.info('deliveries recovered', { provider, id, page, taken, total: after.count, isLast })
    }
  })

/** On somebody's word all that was not received; of its own accord what was abandoned. */
const takenUp = ({ kind, until }: Recovery, delivery: Delivery, at: Date): Delivery | undefined => {
  if (kind === 'automatic') return autoRetry(delivery, at)
  // Pending: this page was begun before, or somebody asked for it already.
  const isToBe = delivery.status === 'failed' || delivery.status === 'abandoned'
  const isAfter = delivery.last && delivery.last.at > until
  return isToBe && !delivery.deliveredAt && !isAfter ? redeliver(delivery, at) : undefined
}

export const handler = recoverDeliveries(real)
