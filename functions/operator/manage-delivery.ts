import { invalid, Refusal, unlessRefused } from '../../shared/domain/refusal.ts'
import { DAY_MS } from '../../shared/domain/time.ts'
import type { Delivery } from '../../shared/domain/webhooks/delivery.ts'
import { parseDeliveryId } from '../../shared/domain/webhooks/event.ts'
import { RECOVERY_DAYS_MAX, requestedRecovery } from '../../shared/domain/webhooks/recovery.ts'
import { noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { delivery as noun } from '../../shared/operator/nouns/debits.ts'
import { pageOf } from '../../shared/operator/pages.ts'
import { environment, real } from '../../shared/runtime.ts'
import { putChange } from '../../shared/store/operator/changes.ts'
import {
  countUndelivered,
  findDeliveries,
  undeliveredEvents,
} from '../../shared/store/webhooks/deliveries.ts'
import { listedEvents } from '../../shared/store/webhooks/feed.ts'
import { openRecovery } from '../../shared/store/webhooks/recoveries.ts'
import { findWebhookSettings } from '../../shared/store/webhooks/webhooks.ts'
import { deliveryView, deliveryWithAttempts } from '../../shared/views/delivery.ts'
import { recoveryView, sentDeliveryView } from '../../shared/views/operator/delivery.ts'
import { readLog } from '../../shared/webhooks/delivery-log.ts'
import { findEvent } from '../../shared/webhooks/find-events.ts'
import { requestRedelivery } from '../../shared/webhooks/redeliver.ts'

/** Lists events with their deliveries, if they have one. */
async function* deliveryPages(pages: ReturnType<typeof listedEvents>) {
  for await (const events of pages) {
    const deliveries = await findDeliveries(events.map(({ entry }) => entry))
    const byEvent = new Map(deliveries.map((delivery) => [eventKey(delivery), delivery]))
    yield events.map(({ key, entry }) => ({ key, delivery: byEvent.get(eventKey(entry)) }))
  }
}

const eventKey = ({ reference, n }: { reference: string; n: number }): string => `${reference}#${n}`

export const manageDelivery = operatorHandler(noun, {
  list: async ({ reference, ...options }, _, runtime) => {
    const { provider, status, limit } = options
    const isListed = ({ delivery }: { delivery: Delivery }) =>
      delivery.status === (status ?? delivery.status) &&
      delivery.provider === (provider ?? delivery.provider)
    if (reference) {
      return (await readLog(reference)).filter(isListed).slice(0, limit).map(deliveryWithAttempts)
    }
    if (!provider) return noSuch('provider')
    return pageOf('delivery list', options, runtime, {
      // An event that was received is never abandoned, so the list of undelivered ones has all that are.
      read: (span) =>
        deliveryPages(
          status === 'abandoned'
            ? undeliveredEvents(provider, span)
            : listedEvents(provider, span.before),
        ),
      keyOf: ({ key }) => key,
      viewOf: ({ delivery }) =>
        delivery && isListed({ delivery }) ? deliveryView(delivery) : undefined,
    })
  },
  show: async ({ id }) => {
    const key = parseDeliveryId(environment.referencePrefix, id)
    const event = key && (await findEvent(key))
    const log =
      event && (await readLog(event.reference)).find(({ delivery }) => delivery.n === event.n)
    if (!log) return noSuch('delivery')
    const webhook = await findWebhookSettings(event.provider)
    return sentDeliveryView(log, event.payload(webhook))
  },
  redeliver: async ({ id }, author, runtime) => {
    const key = parseDeliveryId(environment.referencePrefix, id)
    const event = key && (await findEvent(key))
    if (!event) return noSuch('delivery')
    await putChange({ ...author, target: id, provider: event.provider }, { event: event.type })
    return unlessRefused(await requestRedelivery(event, runtime), deliveryView)
  },
  recover: async ({ provider, since }, author, runtime) => {
    const now = runtime.now()
    if (since > now) return invalid({ since: ['must not be in the future'] })
    if (now.getTime() - since.getTime() > RECOVERY_DAYS_MAX * DAY_MS) {
      return invalid({ since: [`must not be more than ${RECOVERY_DAYS_MAX} days ago`] })
    }
    if (!(await findWebhookSettings(provider))) return new Refusal(4404)
    // First, so that a repeat after a fault opens no second recovery.
    const missed = await countUndelivered(provider, { since, until: now })
    await putChange({ ...author, target: provider, provider }, { since: since.toISOString() })
    const recovery = requestedRecovery({ provider, id: runtime.newId(), since, now })
    await openRecovery(recovery)
    return recoveryView(recovery, missed)
  },
})

export const handler = manageDelivery(real)
