import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { changeHealth } from '../../shared/store/webhooks/health.ts'
import { holdWebhook } from '../support/contract.ts'
import { NOON, providerId } from '../support/examples.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import { type Answer, type Received, useReceiver } from '../support/receiver.ts'
import { FAILS_AT_ONCE, type Shown, useService } from '../support/running-service.ts'

/** The event feed of a provider and the ping of its webhook. */

const service = useService({ timeScale: 60 })
const receiver = useReceiver()

const EVENTS = '/api/v1/payment-providers/events'
const PING = '/api/v1/payment-providers/webhook/test'
const COMPLETES = '+233241234567'

type Page = { data: Shown[]; meta: { next_cursor: string; has_more: boolean; per_page: number } }

const page = async (provider: Provider, query = {}): Promise<Page> =>
  (await provider.send('GET', `${EVENTS}?${new URLSearchParams(query)}`)).body

/** Follows the feed by its cursor until it has returned a number of events. */
const follow = async (provider: Provider, count: number, perPage: number): Promise<Shown[]> => {
  const followed: Shown[] = []
  let position = {}
  await vi.waitFor(
    async () => {
      const { data, meta } = await page(provider, { ...position, per_page: String(perPage) })
      followed.push(...data)
      position = { cursor: meta.next_cursor }
      expect(followed.length).toBeGreaterThanOrEqual(count)
    },
    { timeout: 15_000, interval: 200 },
  )
  return followed
}

const eventIds = (events: readonly Shown[]): string[] => events.map(({ event_id }) => event_id)

describe('list-events', () => {
  test('returns every event once and in order to a cursor followed while debits complete', async () => {
    const provider = await createProvider(service, 'follows')
    // More than one stored page of the feed.
    const charging = Promise.all(Array.from({ length: 12 }, () => provider.charge(COMPLETES)))
    const followed = await follow(provider, 48, 15)
    const references = await charging
    expect(followed).toHaveLength(48)
    expect(new Set(eventIds(followed)).size).toBe(48)
    expect(followed).toEqual((await page(provider, { per_page: '100' })).data)
    for (const reference of references) {
      const ours = followed.filter(({ data }) => data.transaction.reference === reference)
      expect(ours.map(({ event }) => event)).toEqual(
        ['created', 'pending', 'processing', 'completed'].map((name) => `transaction.${name}`),
      )
    }
  })

  test.each([
    ['as usual', {}],
    ['reduced, under other names', { payload: 'reduced', 'event-names': 'debit_request' }],
  ])('returns the exact bodies of the webhook: %s', async (name, variants) => {
    const provider = await createProvider(service, `bodies-${name.length}`)
    await provider.webhook('set', { url: receiver.url(), ...variants })
    const reference = await provider.charge()
    const sent = await receiver.events(reference, 3)
    await follow(provider, 3, 20)
    const reply = await fetch(`${service.sandbox().address}${EVENTS}`, {
      headers: { Authorization: `Bearer ${provider.credential}` },
    })
    const { data } = (await reply.clone().json()) as Page
    expect(data).toEqual(sent.map(({ body }) => body))
    expect(await reply.text()).toContain(`"data":[${sent.map(({ raw }) => raw).join(',')}]`)
  })

  test('returns the provider’s own events alone, also those that its webhook is not subscribed to', async () => {
    const [one, other] = await Promise.all(
      ['feed-one', 'feed-other'].map((id) => createProvider(service, id)),
    )
    if (!one || !other) throw new Error('two were made')
    await one.webhook('set', { url: receiver.url(), events: 'transaction.completed' })
    const references = await Promise.all([one.charge(), other.charge()])
    for (const [n, provider] of [one, other].entries()) {
      const events = await follow(provider, 3, 20)
      const theirs = events.map(({ data }) => data.transaction.reference)
      expect(theirs).toEqual([references[n], references[n], references[n]])
    }
  })

  test('returns a cursor also when it is empty, and whether more pages follow', async () => {
    const provider = await createProvider(service, 'feed-pages')
    const empty = await page(provider)
    expect(empty).toMatchObject({ data: [], meta: { per_page: 20, has_more: false } })
    const cursor = empty.meta.next_cursor
    await provider.charge()
    await follow(provider, 3, 20)
    const first = await page(provider, { cursor, per_page: '2' })
    expect(first).toMatchObject({ meta: { per_page: 2, has_more: true } })
    const rest = await page(provider, { cursor: first.meta.next_cursor, per_page: '2' })
    expect(rest.meta.has_more).toBe(false)
    expect([first.data, rest.data].map(({ length }) => length)).toEqual([2, 1])
    const { data, meta } = await page(provider, { cursor: rest.meta.next_cursor })
    expect([data, meta.next_cursor]).toEqual([[], rest.meta.next_cursor])
    const former = await page(provider, { after: first.meta.next_cursor, per_page: '2' })
    expect(former).toEqual({ ...rest, meta: { ...former.meta, next_cursor: meta.next_cursor } })
  })

  test('rejects a cursor of another provider under the name of the parameter', async () => {
    const [one, other] = await Promise.all(
      ['cursor-one', 'cursor-other'].map((id) => createProvider(service, id)),
    )
    if (!one || !other) throw new Error('two were made')
    const cursor = (await page(one)).meta.next_cursor
    for (const name of ['cursor', 'after']) {
      const { status, body } = await other.send('GET', `${EVENTS}?${name}=${cursor}`)
      expect([status, body.details]).toEqual([422, { [name]: ['must be a cursor of this list'] }])
    }
    const both = await one.send('GET', `${EVENTS}?cursor=${cursor}&after=${cursor}`)
    expect([both.status, both.body.details]).toEqual([
      422,
      { after: ['must not be given together with cursor'] },
    ])
  })

  test.each([
    ['cursor', ['', 'garbage', 'MS4', 'MS4xMDAw', '%27', '-1', '2026-11-21T12:00:00.000Z']],
    ['after', ['', 'garbage', 'MS4xMDAw']],
    ['per_page', ['', '0', '101', '-1', '1.5', 'all']],
  ])('rejects a malformed %s with 422/1007', async (name, values) => {
    const provider = await createProvider(service, `malformed-${name.replace('_', '-')}`)
    for (const value of values) {
      const { status, body } = await provider.send('GET', `${EVENTS}?${name}=${value}`)
      expect([status, body.error?.code, Object.keys(body.details ?? {})], value).toEqual([
        422,
        1007,
        [name],
      ])
    }
  })
})

describe('test-webhook', () => {
  let provider: Provider
  let secret = ''
  const ping = () => provider.send('POST', PING)
  const pings = (): Received[] => receiver.received.filter(({ body }) => body.event === 'ping')

  beforeAll(async () => {
    provider = await createProvider(service, 'pings')
    secret = (await provider.webhook('set', { url: receiver.url() })).secret
  })

  test('sends a signed ping and reports that it was received', async () => {
    const { status, body } = await ping()
    const [{ raw = '', headers, body: sent } = {}, ...more] = pings()
    expect(more).toEqual([])
    expect(status).toBe(200)
    expect(body.data).toEqual({
      event: 'ping',
      event_id: sent.event_id,
      delivered: true,
      at: sent.timestamp,
      duration_ms: expect.any(Number),
      address: '127.0.0.1',
      response_code: 204,
      response_body: '',
      error_class: null,
      cause: null,
      reason: null,
    })
    holdWebhook(headers ?? {}, sent)
    expect(() => new Webhook(secret).verify(raw, headers as Record<string, string>)).not.toThrow()
    expect(headers).toMatchObject({
      'x-svc-signature': createHmac('sha256', secret).update(raw).digest('hex'),
      'x-svc-event': 'ping',
      'x-svc-event-id': sent.event_id,
    })
  })

  test.each<[string, Answer, object]>([
    ['500', 500, { response_code: 500, error_class: 'status', reason: { code: 4001 } }],
    ['308', 308, { response_code: 308, error_class: 'redirect', reason: { code: 4001 } }],
    [
      'a connection that breaks',
      (response) => response.destroy(),
      { response_code: null, error_class: 'connect', cause: 'broken', reason: { code: 4001 } },
    ],
  ])('reports with 200 that %s did not receive it', async (_name, answer, expected) => {
    receiver.answers.push(answer)
    const { status, body } = await ping()
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ delivered: false, ...expected })
  })

  test('appears in no feed and is not retried', async () => {
    expect((await page(provider)).data).toEqual([])
    expect(pings()).toHaveLength(4)
  })

  test('enables a disabled webhook only when the ping is received', async () => {
    await changeHealth(providerId(provider.id), () => ({ failingSince: NOON, disabledAt: NOON }))
    receiver.answers.push(503)
    expect((await ping()).body.data.delivered).toBe(false)
    expect(await provider.webhook('show')).toMatchObject({ health: 'disabled' })
    expect((await ping()).body.data.delivered).toBe(true)
    expect(await provider.webhook('show')).toMatchObject({
      health: 'healthy',
      disabled_at: null,
      recovered_at: expect.any(String),
    })
    await receiver.events(await provider.charge(FAILS_AT_ONCE), 3)
  })

  test('gets 404/4404 without a webhook', async () => {
    await provider.webhook('remove')
    const { status, body } = await ping()
    expect([status, body.error.code, body.error.category]).toEqual([404, 4404, 'webhooks'])
  })
})
