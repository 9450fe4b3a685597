import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { real } from '../../shared/runtime.ts'
import { pingWebhook } from '../../shared/webhooks/ping.ts'

/** Sends a signed ping (docs/api.md#webhook-health). */
export const testWebhook = endpoint('test-webhook', async ({ caller }, runtime) => {
  const data = await pingWebhook(caller.provider.id, runtime)
  return data ? { data } : notFound('test-webhook')
})

export const handler = testWebhook(real)
