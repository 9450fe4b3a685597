import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { signatureHeaders, webhookSecret } from '../../shared/webhooks/http/signature.ts'

// Runs the Node snippet of docs/webhooks.md.

type Verify = (headers: Record<string, string>, body: Buffer, secret: string) => boolean

const [, snippet = ''] = /```js\n(.*?)```/s.exec(readFileSync('docs/webhooks.md', 'utf8')) ?? []
const module = `data:text/javascript,${encodeURIComponent(snippet)}`
const { isGenuine } = (await import(module)) as { isGenuine: Verify }

const secretOf = (byte: number) => webhookSecret(new Uint8Array(32).fill(byte))
const [secret, oldSecret] = [secretOf(1), secretOf(2)]

const body = '{"narration":"Nyansapɔ"}'
const signed = (secondsAgo: number) => {
  const at = new Date(Date.now() - secondsAgo * 1000)
  const previous = { secret: oldSecret, until: new Date(at.getTime() + 1000) }
  const event = { body, event: 'transaction.completed', eventId: 'evt_1', attemptId: 'dlv_1_1', at }
  return signatureHeaders({ secret, previous }, event)
}

test.each<[string, boolean, Record<string, string>, string, string]>([
  ['the secret', true, signed(0), body, secret],
  ['the secret before a rotation', true, signed(0), body, oldSecret],
  ['four minutes of age', true, signed(240), body, secret],
  ['six minutes of age', false, signed(360), body, secret],
  ['six minutes ahead', false, signed(-360), body, secret],
  ['another secret', false, signed(0), body, secretOf(3)],
  ['another body', false, signed(0), `${body} `, secret],
  ['another id', false, { ...signed(0), 'webhook-id': 'evt_2' }, body, secret],
  ['no headers', false, {}, body, secret],
])('a delivery with %s verifies: %s', (_, isAccepted, headers, text, key) => {
  expect(isGenuine(headers, Buffer.from(text), key)).toBe(isAccepted)
})
