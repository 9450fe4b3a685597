import { beforeAll, describe, expect, test } from 'vitest'
import { changeHealth } from '../../shared/store/webhooks/health.ts'
import { holdWebhook } from '../support/contract.ts'
import { eventually } from '../support/eventually.ts'
import { NOON, providerId } from '../support/examples.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import { type Answer, type Received, useReceiver, verifies } from '../support/receiver.ts'
import { redeliverPath } from '../support/requests.ts'
import { codeOf, type Shown, useService } from '../support/running-service.ts'

/** The event feed of a provider and the ping of its webhook. */

const service = useService({ timeScale: 60 })
const receiver = useReceiver()

const EVENTS = '/api/v1/payment-providers/events'
const PING = '/api/v1/payment-providers/webhook/test'

type Page = { data: Shown[]; meta: { next_cursor: string; has_more: boolean; per_page: number } }

const page = async (provider: Provider, query = {}): Promise<Page> =>
  (await provider.get(`${EVENTS}?${new URLSearchParams(query)}`)).body

/** Waits until the feed has a number of events. */
const has = (provider: Provider, count: number) =>
  eventually(async () => expect((await page(provider)).data).toHaveLength(count))

describe('list-events', () => {
  test.each([
    ['as-usual', {}],
    ['reduced', { payload: 'reduced', 'event-names': 'debit_request' }],
  ])('the list has the exact bodies of the webhook: %s', async (id, variants) => {
    const provider = await createProvider(service, id)
    await provider.webhook('set', { url: receiver.url(), ...variants })
    const sent = await receiver.events(await provider.charge(), 3)
    await has(provider, 3)
    const reply = await fetch(`${service.sandbox().address}${EVENTS}`, {
      headers: { Authorization: `Bearer ${provider.credential}` },
    })
    expect(await reply.text()).toContain(`"data":[${sent.map(({ raw }) => raw).join(',')}]`)
  })

  test('the list has the ids of events from before the webhook was set, which can be redelivered', async () => {
    const provider = await createProvider(service, 'older-events')
    await provider.charge()
    await has(provider, 3)
    const events = (await page(provider)).data.slice(0, 2)
    await provider.webhook('set', { url: receiver.url() })
    for (const { event_id } of events) {
      expect((await provider.send('POST', redeliverPath(event_id.slice(4)))).status).toBe(202)
    }
    const received = await receiver.events(events[0]?.data.transaction.reference, 2)
    const bodies = received.map(({ raw }) => JSON.parse(raw))
    expect(bodies).toHaveLength(2)
    expect(bodies).toEqual(expect.arrayContaining(events))
  })

  test('the list has a cursor also when it is empty, and whether more pages follow', async () => {
    const provider = await createProvider(service, 'feed-pages')
    const empty = await page(provider)
    expect(empty).toMatchObject({ data: [], meta: { per_page: 20, has_more: false } })
    await provider.charge()
    await has(provider, 3)
    const first = await page(provider, { cursor: empty.meta.next_cursor, per_page: '2' })
    expect(first).toMatchObject({ meta: { per_page: 2, has_more: true } })
    const rest = await page(provider, { cursor: first.meta.next_cursor, per_page: '2' })
    expect(rest.meta.has_more).toBe(false)
    expect((await page(provider, { per_page: '3' })).meta.has_more).toBe(false)
    expect([first.data, rest.data].map(({ length }) => length)).toEqual([2, 1])
    const { data, meta } = await page(provider, { cursor: rest.meta.next_cursor })
    expect([data, meta.next_cursor]).toEqual([[], rest.meta.next_cursor])
    const former = await page(provider, { after: first.meta.next_cursor, per_page: '2' })
    expect(former).toEqual({ ...rest, meta: { ...former.meta, next_cursor: meta.next_cursor } })
  })

  test('the list rejects the cursor of another provider, and both names of the cursor', async () => {
    const provider = await createProvider(service, 'own-cursor')
    const other = await createProvider(service, 'other-cursor')
    const own = (await page(provider)).meta.next_cursor
    const foreign = (await page(other)).meta.next_cursor
    for (const [name, query] of [
      ['cursor', `cursor=${foreign}`],
      ['after', `after=${foreign}`],
      ['after', `after=${own}&cursor=${own}`],
    ]) {
      const reply = await provider.get(`${EVENTS}?${query}`)
      const fields = Object.keys(reply.body.details ?? {})
      expect([codeOf(reply), ...fields], query).toEqual(['422/1007', name])
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

  test('a test sends a signed ping and reports that it was received', async () => {
    const { body } = await ping()
    const [received, ...more] = pings() as [Received, ...Received[]]
    const { headers, body: sent } = received
    expect(more).toEqual([])
    expect(body.data).toEqual({
      ...{ event: 'ping', event_id: sent.event_id, delivered: true, at: sent.timestamp },
      ...{ duration_ms: expect.any(Number), address: '127.0.0.1', response_code: 204 },
      ...{ response_body: '', error_class: null, cause: null, reason: null },
    })
    holdWebhook(headers, sent)
    expect(verifies(received, secret)).toBe(true)
    expect(headers).toMatchObject({ 'x-svc-event': 'ping', 'x-svc-event-id': sent.event_id })
  })

  test.each<[Answer, object]>([
    [500, { response_code: 500, error_class: 'status' }],
    [(response) => response.destroy(), { response_code: null, error_class: 'connect' }],
  ])('a test reports with 200, without a retry, that %s failed', async (answer, expected) => {
    receiver.answers.push(answer)
    const before = pings().length
    const { status, body } = await ping()
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ delivered: false, reason: { code: 4001 }, ...expected })
    expect(pings()).toHaveLength(before + 1)
    expect((await page(provider)).data).toEqual([])
  })

  test('a test enables a disabled webhook only when the ping is received', async () => {
    await changeHealth(providerId(provider.id), () => ({ failingSince: NOON, disabledAt: NOON }))
    receiver.answers.push(503)
    expect((await ping()).body.data.delivered).toBe(false)
    expect(await provider.webhook('show')).toMatchObject({ health: 'disabled' })
    expect((await ping()).body.data.delivered).toBe(true)
    const enabled = { health: 'healthy', disabled_at: null, recovered_at: expect.any(String) }
    expect(await provider.webhook('show')).toMatchObject(enabled)
    await receiver.events(await provider.charge(), 3)
    await provider.webhook('remove')
    expect(codeOf(await ping())).toBe('404/4404')
  })
})
