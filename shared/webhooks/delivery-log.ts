import type { Reference } from '../domain/ids.ts'
import type { Attempt } from '../domain/webhooks/attempt.ts'
import type { Delivery } from '../domain/webhooks/delivery.ts'
import { listAttempts, listDeliveries } from '../store/webhooks/deliveries.ts'

/** Redeliveries have no limit. 50 attempts with bodies of 4 KiB, escaped, exceed 6 MB in one reply. */
const ATTEMPTS_SHOWN = 20

/** The deliveries of one debit, in the order of its events, each with its newest attempts. */
export const readLog = async (
  reference: Reference,
): Promise<{ delivery: Delivery; attempts: Attempt[] }[]> =>
  Promise.all(
    (await listDeliveries(reference)).map(async (delivery) => ({
      delivery,
      attempts: await listAttempts(delivery, ATTEMPTS_SHOWN),
    })),
  )
