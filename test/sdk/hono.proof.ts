import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { testing, type WebhookEvent, webhooks } from '../../sdk/typescript/src/index.ts'

test('a receiver works in Hono', async () => {
  const applied: WebhookEvent[] = []
  const on = { 'transaction.completed': (event: WebhookEvent) => void applied.push(event) }
  const options = { secrets: 'whsec_c2VjcmV0', store: webhooks.memoryStore(), on }
  const app = new Hono().post('/webhooks', webhooks.hono(options))
  const event = { event: 'transaction.completed', data: { transaction: { reference: 'r' } } }
  const { body, headers } = await testing.signed(event, options.secrets)
  const reply = await app.request('/webhooks', { method: 'POST', body, headers })
  expect(reply.status).toBe(204)
  expect(applied).toEqual([JSON.parse(body)])
})
