import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { pingAttempt, succeeded } from '../../shared/domain/webhooks/attempt.ts'
import { PING } from '../../shared/domain/webhooks/event.ts'
import { real } from '../../shared/runtime.ts'
import { findHealth } from '../../shared/store/webhooks/health.ts'
import { findWebhook } from '../../shared/store/webhooks/webhooks.ts'
import { pingView } from '../../shared/views/delivery.ts'
import { recordOutcome } from '../../shared/webhooks/health.ts'
import { ping } from '../../shared/webhooks/send.ts'

/** Sends a signed ping. A success counts for the health of the webhook (docs/api.md#webhook-health). */
export const testWebhook = endpoint('test-webhook', async ({ caller }, runtime) => {
  const provider = caller.provider.id
  const [webhook, health] = await Promise.all([findWebhook(provider), findHealth(provider)])
  if (!webhook) return notFound('test-webhook')
  const id = runtime.newId()
  const at = runtime.now()
  const sentAt = runtime.wallTime()
  const attempt = { id: `dlv_${id}_1`, eventId: `evt_${id}`, at, sentAt }
  const { outcome, address } = await ping(webhook, attempt)
  const milliseconds = runtime.wallTime().getTime() - sentAt.getTime()
  const timing = { id: attempt.id, at, milliseconds, address, sentAs: PING }
  if (succeeded(outcome)) {
    await recordOutcome(
      { provider, health, milliseconds, succeeded: true, abandoned: false },
      runtime,
    )
  }
  return { data: pingView(id, pingAttempt(outcome, timing)) }
})

export const handler = testWebhook(real)
