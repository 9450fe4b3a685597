import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, test } from 'vitest'
import { type Received, useReceiver } from '../support/receiver.ts'
import { FAILS_AT_ONCE, type Shown, useService } from '../support/running-service.ts'

/** Webhook settings, as the receiver and the operator see them. */

const service = useService({ timeScale: 60 })
const receiver = useReceiver()

const operate = (verb: string, options: Record<string, string> = {}): Promise<Shown> =>
  service.call('webhook', verb, { provider: 'demo', ...options })

const set = (options: Record<string, string> = {}) =>
  operate('set', { url: receiver.url(), ...options })

afterEach(() => service.operate('webhook', 'remove', { provider: 'demo' }))

/** Returns the last event of a debit that fails at once. */
const lastEvent = async (): Promise<Received> => {
  const { reference } = await service.charge({ phone_number: FAILS_AT_ONCE })
  return (await receiver.events(reference, 3)).at(-1) as Received
}

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
    const settings = await set()
    const { secret: first = '' } = settings
    const before = Date.now()
    const rotated = await operate('rotate-secret')
    const { secret: second = '', previous_until = '' } = rotated
    expect(rotated).toEqual({ ...settings, secret: second, previous_until })
    const graceMilliseconds = new Date(previous_until).getTime() - before
    expect(Math.round(graceMilliseconds / 60_000)).toBe(24 * 60)
    const event = await lastEvent()
    expect([first, second].map((secret) => verifies(event, secret))).toEqual([true, true])
    expect(event.headers['x-svc-signature-previous']).toMatch(/^[0-9a-f]{64}$/)
    const { secret: third = '' } = await operate('rotate-secret', { 'grace-seconds': '60' })
    const later = await lastEvent()
    expect([first, second, third].map((secret) => verifies(later, secret))).toEqual([
      false,
      true,
      true,
    ])
  })

  test('replaces the secret immediately without a grace period', async () => {
    const { secret: first = '' } = await set()
    const { secret: second, previous_until } = await operate('rotate-secret', {
      'grace-seconds': '0',
    })
    expect(previous_until).toBeNull()
    const event = await lastEvent()
    expect(verifies(event, first)).toBe(false)
    expect(verifies(event, second)).toBe(true)
    expect(event.headers).not.toHaveProperty('x-svc-signature-previous')
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
      amount: 100,
      currency: 'GHS',
      partner_reference: expect.any(String),
      timestamp: body.timestamp,
    },
  })
  expect(headers).toMatchObject({
    'x-svc-event': 'debit_request.failed',
    'x-svc-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
  })
  const usual = { payload: 'full', 'event-names': 'transaction', 'signature-prefix': 'none' }
  expect(await set(usual)).toMatchObject({
    payload: 'full',
    event_names: 'transaction',
    signature_prefix: 'none',
  })
  expect((await lastEvent()).body).toMatchObject({
    event: 'transaction.failed',
    data: { previous_status: 'pending' },
  })
})

test('show prints the settings and the health without the secret', async () => {
  const { secret = '', ...settings } = await set({ payload: 'reduced' })
  const shown = await operate('show')
  expect(shown).toEqual({
    ...settings,
    has_secret: true,
    health: 'healthy',
    failing_since: null,
    exhausted_since: null,
    disabled_at: null,
    recovered_at: null,
    is_sidelined: false,
  })
  expect(JSON.stringify(shown)).not.toContain(secret)
})

test('a removed webhook gets a new secret when it is set again', async () => {
  const { secret } = await set()
  expect(await operate('remove')).toEqual({ removed: true })
  for (const verb of ['remove', 'show']) {
    const error = await service.refusal('webhook', verb, { provider: 'demo' })
    expect(error).toBe('this provider has no webhook')
  }
  expect((await set()).secret).not.toBe(secret)
})

test('concurrent callers of the first webhook set print the same secret', async () => {
  const settings = await Promise.all(Array.from({ length: 6 }, () => set()))
  expect(new Set(settings.map(({ secret }) => secret)).size).toBe(1)
  expect((await set()).secret).toBe(settings[0]?.secret)
})
