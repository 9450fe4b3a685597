import { describe, expect, test } from 'vitest'
import { createProvider } from '../support/provider.ts'
import { type Received, verifies } from '../support/receiver.ts'
import { deliveriesPath } from '../support/requests.ts'
import { codeOf, type Shown, textOf, useService } from '../support/running-service.ts'
import { CREATED, ONCE, useSubscribers } from '../support/subscriber.ts'

/** Webhook settings and delivery records, for providers and operators. */

const service = useService()
const { receiver, create, subscribe } = useSubscribers(service)

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

test('the verb `webhook rotate-secret` signs with both secrets during the overlap, also a retry', async () => {
  const { provider, set, script, debit, lastEvent } = await create('rotates')
  const { secret: first, ...settings } = await set(CREATED)
  script(503)
  const { reference } = await debit('failed')
  const before = Date.now()
  const { secret: second, ...rotated } = await provider.webhook('rotate-secret')
  expect(rotated).toEqual({ ...settings, previous_until: expect.any(String) })
  const overlapMs = Date.parse(rotated.previous_until) - before
  expect(Math.round(overlapMs / 60_000)).toBe(24 * 60)
  await provider.attempt(reference, 0, 2)
  const [, retry] = (await receiver.events(reference, 2)) as [Received, Received]
  expect([first, second].map((secret) => verifies(retry, secret))).toEqual([true, true])
  expect(retry.headers['x-svc-signature-previous']).toMatch(/^[0-9a-f]{64}$/)
  await set({ events: 'none' })
  const third = await provider.webhook('rotate-secret', { 'grace-seconds': '0' })
  const event = await lastEvent()
  expect(third.previous_until).toBeNull()
  const verified = [first, second, third.secret].map((secret) => verifies(event, secret))
  expect(verified).toEqual([false, false, true])
  expect(event.headers).not.toHaveProperty('x-svc-signature-previous')
})

test('a setting changes the format of an event, and back', async () => {
  const variants = { payload: 'reduced', 'event-names': 'debit_request' }
  const { set, lastEvent } = await subscribe('varies', variants)
  await set({ 'signature-prefix': 'sha256' })
  const { body, headers } = await lastEvent()
  const data = { reference: expect.any(String), status: 'failed', amount: 1 }
  expect(body).toMatchObject({ event: 'debit_request.failed', sequence: 2, data })
  expect(body.data).not.toHaveProperty('transaction')
  const signature = expect.stringMatching(/^sha256=[0-9a-f]{64}$/)
  expect(headers).toMatchObject({ 'x-svc-event': body.event, 'x-svc-signature': signature })
  await set({ payload: 'full', 'event-names': 'transaction', 'signature-prefix': 'none' })
  const full = { event: 'transaction.failed', data: { previous_status: 'pending' } }
  expect((await lastEvent()).body).toMatchObject(full)
})

test('a setting keeps the secret and the other settings until they are changed', async () => {
  const { provider, set, lastEvent } = await create('keeps')
  const first = await set({ 'max-attempts': '3', timeout: '15' })
  const url = 'http://127.0.0.1:4243/y'
  expect(await set({ url, events: 'transaction.failed,transaction.failed' })).toEqual({
    ...{ url, secret: null, events: ['transaction.failed'], max_attempts: 3 },
    ...{ timeout: 15, connection_timeout: 10, signature_prefix: 'none', payload: 'full' },
    ...{ event_names: 'transaction', previous_until: null },
  })
  const { secret: _, ...settings } = await set({ events: 'none', 'max-attempts': 'none' })
  expect(settings).toMatchObject({ events: null, max_attempts: null })
  const healthy = { health: 'healthy', is_sidelined: false, disabled_at: null }
  const times = { failing_since: null, exhausted_since: null, recovered_at: null }
  const shown = { ...settings, has_secret: true, ...healthy, ...times }
  expect(await provider.webhook('show')).toEqual(shown)
  const listed = await service.call('webhook', 'list')
  expect(listed).toContainEqual(expect.objectContaining({ provider: provider.id }))
  expect(JSON.stringify(listed)).not.toContain(first.secret)
  expect(verifies(await lastEvent(), first.secret)).toBe(true)
})

test('a setting creates another secret after a removal, and one of concurrent calls prints it', async () => {
  const { provider, set } = await create('removes')
  const settings = await Promise.all(Array.from({ length: 6 }, () => set()))
  const secrets = settings.flatMap(({ secret }) => secret ?? [])
  expect(secrets).toHaveLength(1)
  expect(await provider.webhook('remove')).toEqual({ removed: true })
  for (const verb of ['remove', 'show', 'enable', 'ping', 'rotate-secret']) {
    const line = await service.refusal('webhook', verb, { provider: provider.id })
    expect(line, verb).toBe('this provider has no webhook')
  }
  expect((await set()).secret).not.toBe(secrets[0])
})

describe('list-deliveries', () => {
  test('the list has every published field of each event and the log of its attempts', async () => {
    const settings = { ...CREATED, 'max-attempts': '2' }
    const { provider, script, debit, listed } = await subscribe('lists', settings)
    script((response) => response.writeHead(503).end('\u001b[31mbusy'))
    const { reference } = await debit('failed')
    await provider.attempt(reference, 0, 2)
    const arrived = await receiver.events(reference, 2)
    const [record, ...more] = await listed(reference)
    const attempt = (n: number, headers: Received['headers'] = {}) => ({
      ...{ attempt: n, at: TIME, duration_ms: expect.any(Number), address: '127.0.0.1' },
      request_headers: {
        'X-SVC-Event': 'transaction.created',
        'X-SVC-Event-ID': headers['x-svc-event-id'],
        'X-SVC-Delivery-ID': headers['x-svc-delivery-id'],
        'X-SVC-Timestamp': headers['x-svc-timestamp'],
      },
    })
    const [first, second] = arrived.map(({ headers }, n) => attempt(n + 1, headers))
    const busy = { response_code: 503, response_body: '\\u001b[31mbusy' }
    const taken = { response_code: 204, response_body: '' }
    expect(more).toEqual([])
    expect(record).toEqual({
      ...{ id: expect.any(Number), reference, event: 'transaction.created' },
      ...{ event_id: `evt_${record.id}`, status: 'delivered', attempt_count: 2, max_attempts: 2 },
      ...{ ...taken, next_attempt_at: null, delivered_at: TIME, failed_at: null, reason: null },
      attempts: [
        { ...first, ...busy, error_class: 'status', cause: 'status' },
        { ...second, ...taken, error_class: null, cause: null },
      ],
    })
    for (const { headers } of arrived) {
      expect(JSON.stringify(record)).not.toContain(headers['x-svc-signature'])
      expect(JSON.stringify(record)).not.toContain(headers['webhook-signature'])
    }
  })

  test('the list has the same bytes with 404/3404 for foreign and unknown debits', async () => {
    const reference = (await service.charge()).reference
    const other = await createProvider(service, 'lists-other')
    const foreign = await other.get(deliveriesPath(reference))
    expect(codeOf(foreign)).toBe('404/3404')
    for (const unknown of ['DCS-20261121-000000', 'x', '%00', reference.toLowerCase()]) {
      expect(textOf(await other.get(deliveriesPath(unknown))), unknown).toBe(textOf(foreign))
    }
    const without = await other.charge()
    expect((await other.get(deliveriesPath(without))).body.data).toEqual([])
  })

  test('the operator lists the deliveries of a debit, and the newest of a provider by status', async () => {
    const { provider, script, debit, listed } = await subscribe('operator-lists', ONCE)
    const { reference: taken } = await debit('delivered')
    script(500)
    const { reference: refused } = await debit('abandoned')
    const list = (options: Record<string, string>) => service.call('delivery', 'list', options)
    expect(await list({ reference: refused })).toEqual(await listed(refused))
    const ofProvider = async (more = {}) =>
      (await list({ provider: provider.id, ...more })).map((one: Shown) => one.reference)
    expect(await ofProvider()).toEqual([refused, taken])
    expect(await ofProvider({ status: 'abandoned' })).toEqual([refused])
    expect(await ofProvider({ status: 'failed' })).toEqual([])
  })

  test.each([
    ['set', { events: 'transaction.completed' }, 4403],
    ['remove', {}, 4404],
  ] as const)('the list shows %s %o between attempts as reason %i', async (verb, options, code) => {
    const { provider, set, script, debit } = await subscribe(`abandons-${code}`, CREATED)
    script(503)
    const { reference } = await debit('failed')
    await (verb === 'set' ? set(options) : provider.webhook(verb))
    await provider.attempt(reference, 0, 2)
    expect(await provider.delivery(reference, 'created', 'abandoned')).toMatchObject({
      ...{ attempt_count: 1, next_attempt_at: null, failed_at: TIME },
      ...{ reason: { code }, attempts: [{ attempt: 1, response_code: 503 }] },
    })
  })
})
