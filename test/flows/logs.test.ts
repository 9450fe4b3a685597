import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { useReceiver } from '../support/receiver.ts'
import { CHARGE, useService } from '../support/running-service.ts'

/** What the functions log: one JSON line each, and nothing of anybody's. */

process.env.POWERTOOLS_LOG_LEVEL = 'INFO'
const service = useService({ timeScale: 60 })
const receiver = useReceiver()

const written: string[] = []
const spies = [
  vi.spyOn(process.stdout, 'write').mockImplementation((part) => written.push(String(part)) > 0),
  vi.spyOn(process.stderr, 'write').mockImplementation((part) => written.push(String(part)) > 0),
]
afterAll(() => {
  for (const spy of spies) spy.mockRestore()
})

const canaries = {
  phone: '+233247777777',
  name: 'Canary Customer',
  account: '9990001112223',
  narration: 'canary narration\r\n{"level":"ERROR"}',
  partnerReference: 'canary-reference',
  metadata: 'canary-metadata',
  token: 'sk_sandbox_canary_token',
}
let secret = ''
let signature = ''

beforeAll(async () => {
  await service.operate('provider', 'create', { provider: 'canary', name: 'Canary' })
  await service.operate('credential', 'issue', { provider: 'canary', token: canaries.token })
  await service.operate('customer', 'link', {
    phone: canaries.phone,
    bank: 'GCB',
    name: canaries.name,
    'account-number': canaries.account,
  })
  const set = await service.operate('webhook', 'set', { provider: 'canary', url: receiver.url() })
  secret = (set as { result: { secret: string } }).result.secret
  const { body } = await service.send('POST', CHARGE, {
    credential: canaries.token,
    headers: { 'User-Agent': 'canary-agent', 'X-Request-ID': 'canary-request' },
    body: {
      phone_number: canaries.phone,
      bank_identifier: 'GCB',
      amount: '100.00',
      currency: 'GHS',
      narration: canaries.narration,
      partner_reference: canaries.partnerReference,
      metadata: { note: canaries.metadata },
    },
  })
  const events = await receiver.events(body.data.reference, 4)
  signature = String(events[0]?.headers['x-svc-signature'])
  await service.send('POST', CHARGE, { credential: `${canaries.token}x`, body: '{' })
  await service.invoke('submit-to-bank', {
    Records: [
      { messageId: 'poison', body: canaries.phone, eventSource: 'aws:sqs', attributes: {} },
    ],
  })
})

test('each line is one JSON object with a level, whatever a caller puts into a field', () => {
  const lines = written.join('').trimEnd().split('\n')
  expect(lines.length).toBeGreaterThan(4)
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty('level')
})

test('nobody’s phone, name, account, text, token, secret or signature is in them', () => {
  const all = written.join('')
  for (const [name, canary] of Object.entries({ ...canaries, secret, signature })) {
    expect(all.includes(canary), name).toBe(false)
    expect(all.includes(JSON.stringify(canary).slice(1, -1)), name).toBe(false)
  }
  expect(all).not.toContain('canary-agent')
  expect(all).not.toContain('canary-request')
})
