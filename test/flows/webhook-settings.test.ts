import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, test } from 'vitest'
import type { OperatorReply } from '../../shared/operator/verbs.ts'
import { type Received, useReceiver } from '../support/receiver.ts'
import { CHARGE, chargeBody, useService } from '../support/running-service.ts'

/** What an operator settles about a provider's webhook, as its receiver and the operator see it. */

const service = useService({ timeScale: 60 })
const receiver = useReceiver()

const operate = async (verb: string, options: Record<string, string> = {}) => {
  const reply: OperatorReply = await service.operate('webhook', verb, {
    provider: 'demo',
    ...options,
  })
  return reply as { result: Record<string, string>; error: string }
}

const set = async (options: Record<string, string> = {}) =>
  (await operate('set', { url: receiver.url(), ...options })).result

afterEach(() => operate('remove'))

/** The last event of a debit that fails at once. */
const lastEvent = async (): Promise<Received> => {
  const { body } = await service.send('POST', CHARGE, {
    credential: 'sk_sandbox_demo',
    body: chargeBody({ phone_number: '+233240000001' }),
  })
  const events = await receiver.events(body.data.reference, 3)
  return events.at(-1) as Received
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
  test('both secrets verify while it overlaps; the older previous one does not any more', async () => {
    const printed = await set()
    const { secret: first = '' } = printed
    const before = Date.now()
    const { result } = await operate('rotate-secret')
    const { secret: second = '', previous_until = '' } = result
    expect(result).toEqual({ ...printed, secret: second, previous_until })
    const graceMilliseconds = new Date(previous_until).getTime() - before
    expect(Math.round(graceMilliseconds / 60_000)).toBe(24 * 60)
    const event = await lastEvent()
    expect([first, second].map((secret) => verifies(event, secret))).toEqual([true, true])
    expect(event.headers['x-svc-signature-previous']).toMatch(/^[0-9a-f]{64}$/)
    const { secret: third = '' } = (await operate('rotate-secret', { 'grace-seconds': '60' }))
      .result
    const later = await lastEvent()
    expect([first, second, third].map((secret) => verifies(later, secret))).toEqual([
      false,
      true,
      true,
    ])
  })

  test('with no grace the old secret is gone at once', async () => {
    const { secret: first = '' } = await set()
    const { result } = await operate('rotate-secret', { 'grace-seconds': '0' })
    expect(result.previous_until).toBeNull()
    const event = await lastEvent()
    expect(verifies(event, first)).toBe(false)
    expect(verifies(event, result.secret ?? '')).toBe(true)
    expect(event.headers).not.toHaveProperty('x-svc-signature-previous')
  })
})

test('reduced payload, other names and a prefix: only how an event is written changes', async () => {
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

test('show tells everything but the secret, and how it fares', async () => {
  const { secret = '', ...settings } = await set({ payload: 'reduced' })
  const { result } = await operate('show')
  expect(result).toEqual({
    ...settings,
    has_secret: true,
    health: 'healthy',
    failing_since: null,
    exhausted_since: null,
    disabled_at: null,
    recovered_at: null,
    is_sidelined: false,
  })
  expect(JSON.stringify(result)).not.toContain(secret)
})

test('a webhook that was removed is gone, and gets another secret when it is set again', async () => {
  const { secret } = await set()
  expect((await operate('remove')).result).toEqual({ removed: true })
  expect((await operate('remove')).error).toBe('this provider has no webhook')
  expect((await operate('show')).error).toBe('this provider has no webhook')
  expect((await set()).secret).not.toBe(secret)
})

test('callers who set the first webhook at once print the same secret', async () => {
  const printed = await Promise.all(Array.from({ length: 6 }, () => set()))
  expect(new Set(printed.map(({ secret }) => secret)).size).toBe(1)
  expect((await set()).secret).toBe(printed[0]?.secret)
})
