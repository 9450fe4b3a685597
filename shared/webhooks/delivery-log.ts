import type { Reference } from '../domain/ids.ts'
import { listAttempts, listDeliveries } from '../store/webhooks/deliveries.ts'

/** 50 attempts with escaped bodies of 4 KiB would exceed 6 MB; redeliveries are unlimited. */
const ATTEMPTS_SHOWN = 20

/** Lists the deliveries of one debit in the order of its events, each with its newest attempts. */
export const readLog = async (reference: Reference) =>
  Promise.all(
    (await listDeliveries(reference)).map(async (delivery) => ({
      delivery,
      attempts: await listAttempts(delivery, ATTEMPTS_SHOWN),
    })),
  )
