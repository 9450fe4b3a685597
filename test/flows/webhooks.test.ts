import { Webhook } from 'standardwebhooks'
import { beforeEach, describe, expect, test } from 'vitest'
import { createProvider, type Provider } from '../support/provider.ts'
import { type Received, useReceiver } from '../support/receiver.ts'
import { FAILS_AT_ONCE, useService } from '../support/running-service.ts'

/** Webhook settings and retries, as the receiver and the operator see them. */

const service = useService()
const receiver = useReceiver()
const gone = useReceiver()

let provider: Provider
let count = 0
beforeEach(async () => {
  count += 1
  provider = await createProvider(service, `provider-${count}`)
})

const set = (options: Record<string, string> = {}) =>
  provider.webhook('set', { url: receiver.url(), ...options })

/** Returns the last event of a debit that fails at once. */
const lastEvent = async (): Promise<Received> =>
  (await receiver.events(await provider.charge(), 3)).at(-1) as Received

const verifies = ({ raw, headers }: Received, secret: string): boolean => {
  try {
    new Webhook(secret).verify(raw, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

describe('rotation', () => {
  test('signs with the current and the previous secret during the overlap, and with no older one', async () => {
    const { secret: first, ...settings } = await set()
    const before = Date.now()
    const { secret: second, ...rotated } = await provider.webhook('rotate-secret')
    expect(rotated).toEqual({ ...settings, previous_until: expect.any(String) })
    const overlapMs = Date.parse(rotated.previous_until) - before
    expect(Math.round(overlapMs / 60_000)).toBe(24 * 60)
    const event = await lastEvent()
    expect([first, second].map((secret) => verifies(event, secret))).toEqual([true, true])
    expect(event.headers['x-svc-signature-previous']).toMatch(/^[0-9a-f]{64}$/)
    const grace = { 'grace-seconds': '60' }
    const { secret: third } = await provider.webhook('rotate-secret', grace)
    const later = await lastEvent()
    const all = [first, second, third]
    expect(all.map((secret) => verifies(later, secret))).toEqual([false, true, true])
  })

  test('replaces the secret immediately without a grace period', async () => {
    const { secret: first } = await set()
    const rotated = await provider.webhook('rotate-secret', { 'grace-seconds': '0' })
    expect(rotated.previous_until).toBeNull()
    const event = await lastEvent()
    expect([first, rotated.secret].map((secret) => verifies(event, secret))).toEqual([false, true])
    expect(event.headers).not.toHaveProperty('x-svc-signature-previous')
  })

  test('between two attempts signs the second with both secrets', async () => {
    receiver.answers.push(503)
    const { secret } = await set({ events: 'transaction.created' })
    const reference = await provider.charge()
    await provider.delivery(reference, 'created', 'failed')
    const rotated = await provider.webhook('rotate-secret')
    await provider.attempt(reference, 0, 2)
    const [, second] = (await receiver.events(reference, 2)) as [Received, Received]
    expect([secret, rotated.secret].map((one) => verifies(second, one))).toEqual([true, true])
  })
})

test('payload variants change the format of an event and nothing else', async () => {
  await set({
    payload: 'reduced',
    'event-names': 'debit_request',
    'signature-prefix': 'sha256',
    events: 'transaction.created,transaction.pending,transaction.failed',
  })
  const { body, headers } = await lastEvent()
  expect(body).toEqual({
    event: 'debit_request.failed',
    event_id: expect.stringMatching(/^evt_[0-9]+$/),
    timestamp: expect.any(String),
    api_version: 'v1',
    sequence: 2,
    data: {
      reference: expect.any(String),
      status: 'failed',
      amount: 1,
      currency: 'GHS',
      partner_reference: expect.any(String),
      timestamp: body.timestamp,
    },
  })
  expect(headers).toMatchObject({
    'x-svc-event': 'debit_request.failed',
    'x-svc-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
  })
  await set({ payload: 'full', 'event-names': 'transaction', 'signature-prefix': 'none' })
  const { body: full } = await lastEvent()
  expect(full).toMatchObject({
    event: 'transaction.failed',
    data: { previous_status: 'pending' },
  })
})

describe('webhook set', () => {
  test('keeps the secret and the settings until they are changed', async () => {
    const first = await set({ 'max-attempts': '3', timeout: '15' })
    const url = 'http://127.0.0.1:4243/y'
    expect(await set({ url, events: 'transaction.failed' })).toEqual({
      ...{ url, secret: first.secret, events: ['transaction.failed'], max_attempts: 3 },
      ...{ timeout: 15, connection_timeout: 10, signature_prefix: 'none', payload: 'full' },
      ...{ event_names: 'transaction', previous_until: null },
    })
    const { secret, ...settings } = await set({ events: 'none', 'max-attempts': 'none' })
    expect(settings).toMatchObject({ events: null, max_attempts: null })
    const healthy = { health: 'healthy', is_sidelined: false, disabled_at: null }
    const times = { failing_since: null, exhausted_since: null, recovered_at: null }
    const shown = { ...settings, has_secret: true, ...healthy, ...times }
    expect(await provider.webhook('show')).toEqual(shown)
    const listed = await service.call('webhook', 'list')
    expect(listed).toContainEqual(expect.objectContaining({ provider: provider.id }))
    expect(JSON.stringify(listed)).not.toContain(secret)
  })

  test('creates another secret after a removal, and one secret for concurrent calls', async () => {
    const settings = await Promise.all(Array.from({ length: 6 }, () => set()))
    expect(new Set(settings.map(({ secret }) => secret)).size).toBe(1)
    expect(await provider.webhook('remove')).toEqual({ removed: true })
    for (const verb of ['remove', 'show', 'enable', 'rotate-secret']) {
      const line = await service.refusal('webhook', verb, { provider: provider.id })
      expect(line, verb).toBe('this provider has no webhook')
    }
    expect((await set()).secret).not.toBe(settings[0]?.secret)
  })
})

describe('a receiver that fails', () => {
  test('gets the same event again after two seconds with another delivery id', async () => {
    await set({ events: 'transaction.created' })
    receiver.answers.push(503)
    const reference = await provider.charge()
    const failed = await provider.delivery(reference, 'created', 'failed')
    expect(failed).toMatchObject({ attempt_count: 1, max_attempts: 3, failed_at: null })
    const { at, duration_ms } = failed.attempts[0]
    const delay = Date.parse(failed.next_attempt_at) - Date.parse(at) - duration_ms
    expect(delay).toBeGreaterThanOrEqual(2_000)
    expect(delay).toBeLessThan(3_100)
    const [first, second] = (await receiver.events(reference, 2)) as [Received, Received]
    expect(second.raw).toBe(first.raw)
    expect(second.at - first.at).toBeGreaterThanOrEqual(2_000)
    expect(second.headers['x-svc-event-id']).toBe(first.headers['x-svc-event-id'])
    expect(second.headers['x-svc-delivery-id']).not.toBe(first.headers['x-svc-delivery-id'])
  })

  test('gets only subscribed events', async () => {
    await set({ events: 'transaction.created' })
    const reference = await provider.charge()
    await service.until(reference, 'failed')
    const { event } = await provider.delivery(reference, 'created', 'delivered')
    const records = await service.call('delivery', 'list', { reference })
    expect(records).toMatchObject([{ event }])
    expect(await receiver.events(reference, 1)).toHaveLength(1)
  })

  test('has each attempt recorded until the last is abandoned', async () => {
    await set({ url: gone.url(), 'max-attempts': '2' })
    await gone.close()
    const reference = await provider.charge(FAILS_AT_ONCE)
    const first = await provider.delivery(reference, 'failed', 'failed')
    expect(first).toMatchObject({
      ...{ attempt_count: 1, max_attempts: 2, response_code: null, reason: { code: 4001 } },
      attempts: [{ attempt: 1, error_class: 'connect', cause: 'refused' }],
    })
    await provider.attempt(reference, 2, 2)
    const last = await provider.delivery(reference, 'failed', 'abandoned')
    expect(last).toMatchObject({ attempt_count: 2, failed_at: expect.any(String) })
  })
})

test('a duplicate, late or unknown message makes no second attempt', async () => {
  await set()
  const reference = await provider.charge()
  await receiver.events(reference, 3)
  await provider.delivery(reference, 'failed', 'delivered')
  for (const [n, attempt] of [0, 1, 2, 2].map((n, index) => [n, index === 3 ? 2 : 1])) {
    await provider.attempt(reference, Number(n), Number(attempt))
  }
  await provider.attempt(reference, 0, 7)
  await provider.attempt('DCS-20200101-AAAAAA', 0, 1)
  expect(await receiver.events(reference, 3)).toHaveLength(3)
})
