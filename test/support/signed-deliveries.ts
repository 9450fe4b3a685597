import { readFileSync } from 'node:fs'
import { signatureHeaders, webhookSecret } from '../../shared/webhooks/http/signature.ts'

/** Deliveries on which the snippets of docs/webhooks.md must decide alike. */

const secretOf = (byte: number) => webhookSecret(new Uint8Array(32).fill(byte))
export const secret = secretOf(1)
const oldSecret = secretOf(2)

const body = '{"narration":"Nyansapɔ"}'
export const signed = (secondsAgo: number, text = body, by = secret) => {
  const at = new Date(Date.now() - secondsAgo * 1000)
  const previous = { secret: oldSecret, until: new Date(at.getTime() + 1000) }
  const event = {
    event: 'transaction.completed',
    eventId: 'evt_1',
    attemptId: 'dlv_1_1',
    at,
    now: at,
  }
  return signatureHeaders({ secret: by, previous }, { body: text, ...event })
}

type Delivery = [
  name: string,
  isGenuine: boolean,
  headers: Record<string, string>,
  body: string,
  secret: string,
]

export const deliveries = (): Delivery[] => [
  ['the secret', true, signed(0), body, secret],
  ['the secret before a rotation', true, signed(0), body, oldSecret],
  ['four minutes of age', true, signed(240), body, secret],
  ['six minutes of age', false, signed(360), body, secret],
  ['six minutes ahead', false, signed(-360), body, secret],
  ['another secret', false, signed(0), body, secretOf(3)],
  ['another body', false, signed(0), `${body} `, secret],
  ['another id', false, { ...signed(0), 'webhook-id': 'evt_2' }, body, secret],
  ['no secret', false, signed(0), body, ''],
  ['a long time', false, { ...signed(0), 'webhook-timestamp': '9'.repeat(5000) }, body, secret],
  ['a forgery and no secret', false, signed(0, body, 'whsec_'), body, ''],
  ['a forgery and an unreadable secret', false, signed(0, body, 'whsec_'), body, 'whsec_!'],
  ['no headers', false, {}, body, secret],
]

/** Returns the first block of a language on a page. */
export const snippetOf = (language: string, page = 'docs/webhooks.md'): string => {
  const block = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's')
  const [, code] = block.exec(readFileSync(page, 'utf8')) ?? []
  if (!code) throw new Error(`${page} has no ${language}`)
  return code
}
