import type { ProviderId } from '../domain/providers/provider.ts'
import { pingAttempt, succeeded } from '../domain/webhooks/attempt.ts'
import { PING } from '../domain/webhooks/event.ts'
import { SLOW_SECONDS } from '../domain/webhooks/health.ts'
import { canSign } from '../domain/webhooks/webhook.ts'
import type { Runtime } from '../runtime.ts'
import { findHealth } from '../store/webhooks/health.ts'
import { findWebhook } from '../store/webhooks/webhooks.ts'
import { pingView } from '../views/delivery.ts'
import { recordOutcome } from './health.ts'
import { ping } from './send.ts'

/**
 * Sends a signed ping and returns its result; undefined without a webhook that can sign. A success
 * counts for the health of the webhook (docs/api.md#webhook-health).
 */
export const pingWebhook = async (provider: ProviderId, runtime: Runtime) => {
  const [webhook, health] = await Promise.all([findWebhook(provider), findHealth(provider)])
  if (!webhook || !canSign(webhook)) return undefined
  const id = runtime.newId()
  const at = runtime.now()
  const sentAt = runtime.wallTime()
  const attempt = { id: `dlv_${id}_1`, eventId: `evt_${id}`, at, sentAt }
  const { outcome, address } = await ping(provider, webhook, attempt)
  const milliseconds = runtime.wallTime().getTime() - sentAt.getTime()
  const timing = { id: attempt.id, at, milliseconds, address, sentAs: PING }
  if (succeeded(outcome)) {
    const isSlow = milliseconds >= SLOW_SECONDS * 1000
    const success = { isSlow, succeeded: true, abandoned: false, isGone: false }
    await recordOutcome({ provider, health, ...success }, runtime)
  }
  return pingView(id, pingAttempt(outcome, timing))
}
