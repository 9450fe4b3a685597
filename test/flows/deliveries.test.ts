import { Webhook } from 'standardwebhooks'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { changeHealth } from '../../shared/store/webhooks/health.ts'
import { NOON, providerId } from '../support/examples.ts'
import { createProvider, deliveriesPath, type Provider } from '../support/provider.ts'
import { type Answer, type Received, useReceiver } from '../support/receiver.ts'
import { type Reply, type Shown, statusPath, useService } from '../support/running-service.ts'

/** Delivery records and redeliveries, for providers and operators. */

const service = useService({ timeScale: 60 })
const odd = useReceiver()
const gone = useReceiver()

const CREATED = { events: 'transaction.created' }
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

const saying =
  (code: number, body: string | Buffer): Answer =>
  (response) =>
    response.writeHead(code).end(body)

/** Returns a reply without its request id and time. */
const shown = ({ status, body }: Reply) => JSON.stringify({ status, ...body, meta: undefined })

const listed = async (provider: Provider, reference: string): Promise<Shown> =>
  (await provider.send('GET', deliveriesPath(reference))).body.data

/** Returns the number of POSTs of an event up to this one. */
const arrivalOf = (webhook: Received): number =>
  odd.received
    .slice(0, odd.received.indexOf(webhook) + 1)
    .filter(({ headers }) => headers['x-svc-event-id'] === webhook.headers['x-svc-event-id']).length

const idsOf = (arrived: readonly Received[]): string[] =>
  arrived.map(({ headers }) => String(headers['x-svc-delivery-id']))

const idsOnRecord = ({ attempts }: Shown): string[] =>
  attempts.map(({ request_headers }: Shown) => request_headers['X-SVC-Delivery-ID'])

const redeliverPath = (id: unknown) => `/api/v1/payment-providers/deliveries/${id}/redeliver`

// Cause, class, address, response code and reason; each has its own provider.
const failures = [
  ['refused', 'connect', null, null, 4001],
  ['broken', 'connect', '127.0.0.1', null, 4001],
  ['redirect', 'redirect', '127.0.0.1', 307, 4001],
  ['status', 'status', '127.0.0.1', 500, 4001],
  ['read_timeout', 'timeout', '127.0.0.1', null, 4408],
] as const

const conducts: Record<string, (attempt: number) => Answer> = {
  '/broken': () => (response) => response.destroy(),
  '/redirect': () => 307,
  '/status': () => 500,
  '/read_timeout': () => () => undefined,
  '/once': (attempt) => (attempt === 1 ? 503 : 204),
  '/twice': (attempt) => (attempt <= 2 ? 503 : 204),
}
odd.otherwise = (webhook) => conducts[webhook.path]?.(arrivalOf(webhook)) ?? 204

/** Creates a debit whose first event has failed once, and then changes something. */
const failedOnce = async <T>(
  id: string,
  url: string,
  change: (provider: Provider, record: Shown) => Promise<T>,
) => {
  const provider = await createProvider(service, id)
  const { secret } = await provider.webhook('set', { url, ...CREATED })
  const reference = await provider.charge()
  const record = await provider.delivery(reference, 'created', 'failed')
  return { provider, secret, reference, record, changed: await change(provider, record) }
}

const start = () =>
  Promise.all([
    failedOnce('replaced', odd.url('/twice'), ({ send }, { id }) =>
      send('POST', redeliverPath(id)),
    ),
    failedOnce('narrowed', odd.url('/once'), ({ webhook }) =>
      webhook('set', { url: odd.url('/once'), events: 'transaction.completed' }),
    ),
    failedOnce('removed', odd.url('/once'), ({ webhook }) => webhook('remove')),
    failedOnce('rotated', odd.url('/once'), ({ webhook }) => webhook('rotate-secret')),
  ])

// Slow cases start before all tests; the last tests check them.
const failing = new Map<string, { provider: Provider; reference: string }>()
let started: Awaited<ReturnType<typeof start>>

beforeAll(async () => {
  await gone.close()
  for (const [cause] of failures) {
    const provider = await createProvider(service, cause.replace('_', '-'))
    const url = cause === 'refused' ? gone.url() : odd.url(`/${cause}`)
    await provider.webhook('set', { url, ...CREATED, 'max-attempts': '1', timeout: '10' })
    failing.set(cause, { provider, reference: await provider.charge() })
  }
  started = await start()
})

describe('list-deliveries', () => {
  const receiver = useReceiver()
  let provider: Provider
  beforeAll(async () => {
    provider = await createProvider(service, 'lists')
    await provider.webhook('set', { url: receiver.url(), ...CREATED, 'max-attempts': '2' })
  })

  test('returns every published field of each event and the log of its attempts', async () => {
    receiver.answers.push(saying(503, 'busy'))
    const reference = await provider.charge()
    const arrived = await receiver.events(reference, 2)
    await provider.delivery(reference, 'created', 'delivered')
    const [record, ...more] = await listed(provider, reference)
    const attempt = (n: number) => ({
      attempt: n,
      at: TIME,
      duration_ms: expect.any(Number),
      address: '127.0.0.1',
      request_headers: {
        'X-SVC-Event': 'transaction.created',
        'X-SVC-Event-ID': arrived[n - 1]?.headers['x-svc-event-id'],
        'X-SVC-Delivery-ID': arrived[n - 1]?.headers['x-svc-delivery-id'],
        'X-SVC-Timestamp': arrived[n - 1]?.headers['x-svc-timestamp'],
      },
    })
    const failed = { response_body: 'busy', error_class: 'status', cause: 'status' }
    const taken = { response_body: '', error_class: null, cause: null }
    expect(more).toEqual([])
    expect(record).toEqual({
      id: expect.any(Number),
      reference,
      event: 'transaction.created',
      event_id: `evt_${record.id}`,
      status: 'delivered',
      attempt_count: 2,
      max_attempts: 2,
      response_code: 204,
      response_body: '',
      next_attempt_at: null,
      delivered_at: TIME,
      failed_at: null,
      reason: null,
      attempts: [
        { ...attempt(1), response_code: 503, ...failed },
        { ...attempt(2), response_code: 204, ...taken },
      ],
    })
    for (const { headers } of arrived) {
      expect(JSON.stringify(record)).not.toContain(headers['x-svc-signature'])
      expect(JSON.stringify(record)).not.toContain(headers['webhook-signature'])
    }
  })

  test.each<[string, string | Buffer, string]>([
    ['what a terminal obeys', '\u001b[31mred\u0007', '\\u001b[31mred\\u0007'],
    ['markup', '<b onclick="x">&amp;', '\\u003cb onclick="x"\\u003e\\u0026amp;'],
    ['line ends', 'a\r\nb\tc\u2028d', 'a\\u000d\\u000ab\\u0009c\\u2028d'],
    ['NUL and C1 controls', '\u0000\u009b', '\\u0000\\u009b'],
    ['a bidirectional override', '\u202etxt', '\\u202etxt'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe]), '\ufffd\ufffd'],
    ['10,000 characters', 'x'.repeat(10_000), 'x'.repeat(4_096)],
  ])('keeps a response of %s as harmless text', async (_name, body, kept) => {
    receiver.answers.push(saying(400, body))
    const reference = await provider.charge()
    await provider.delivery(reference, 'created', 'abandoned')
    const [record] = await listed(provider, reference)
    expect(record).toMatchObject({ response_code: 400, response_body: kept })
    expect(record.attempts).toMatchObject([{ response_code: 400, response_body: kept }])
  })

  test('replies the same bytes with 404/3404 for foreign and unknown debits', async () => {
    const reference = await provider.charge()
    const other = await createProvider(service, 'lists-other')
    const foreign = await other.send('GET', deliveriesPath(reference))
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 3404])
    for (const unknown of ['DCS-20261121-000000', 'x', '%00', reference.toLowerCase()]) {
      expect(shown(await other.send('GET', deliveriesPath(unknown))), unknown).toBe(shown(foreign))
    }
  })

  test('returns none for a provider without a webhook', async () => {
    const without = await createProvider(service, 'lists-without')
    const reference = await without.charge()
    expect(await listed(without, reference)).toEqual([])
  })

  test('lets the operator list those of a debit, and the newest of a provider by status', async () => {
    const own = await createProvider(service, 'operator-lists')
    await own.webhook('set', { url: odd.url('/taken'), ...CREATED })
    const taken = await own.charge()
    await own.delivery(taken, 'created', 'delivered')
    await own.webhook('set', { url: odd.url('/redirect') })
    const refused = await own.charge()
    await own.delivery(refused, 'created', 'abandoned')
    const list = async (options: Record<string, string>) =>
      await service.call('delivery', 'list', options)
    expect(await list({ reference: refused })).toEqual(await listed(own, refused))
    const ofProvider = async (more = {}) =>
      (await list({ provider: own.id, ...more })).map((one: Shown) => one.reference)
    expect(await ofProvider()).toEqual([refused, taken])
    expect(await ofProvider({ status: 'abandoned' })).toEqual([refused])
    expect(await ofProvider({ status: 'failed' })).toEqual([])
    expect(await service.operate('delivery', 'list', {})).toEqual({
      error: '--reference or --provider is required',
    })
  })
})

describe('redeliver-event', () => {
  const receiver = useReceiver()
  let provider: Provider
  const redeliver = (id: unknown): Promise<Reply> => provider.send('POST', redeliverPath(id))
  const set = (options = {}) => provider.webhook('set', { url: receiver.url(), ...options })

  beforeAll(async () => {
    provider = await createProvider(service, 'redelivers')
    await set(CREATED)
  })

  test('makes one extra attempt at an abandoned event', async () => {
    await set({ 'max-attempts': '1' })
    receiver.answers.push(500)
    const reference = await provider.charge()
    const { id } = await provider.delivery(reference, 'created', 'abandoned')
    const { body } = await redeliver(id)
    expect(body.data).toMatchObject({ status: 'pending', max_attempts: 2, failed_at: null })
    const after = await provider.delivery(reference, 'created', 'delivered')
    expect(after).toMatchObject({ attempt_count: 2, reason: null })
    const [first, second] = await receiver.events(reference, 2)
    expect(second?.raw).toBe(first?.raw)
  })

  test('sends a delivered event again, which stays delivered if the attempt fails', async () => {
    const reference = await provider.charge()
    const before = await provider.delivery(reference, 'created', 'delivered')
    receiver.answers.push(500)
    const asked = await service.call('delivery', 'redeliver', { id: String(before.id) })
    expect(asked).toMatchObject({ status: 'pending', delivered_at: before.delivered_at })
    const arrived = await receiver.events(reference, 2)
    const after = await provider.delivery(reference, 'created', 'delivered')
    expect(idsOnRecord(after)).toEqual(idsOf(arrived))
    expect(after).toMatchObject({
      attempt_count: 2,
      delivered_at: before.delivered_at,
      failed_at: null,
      reason: { code: 4001 },
    })
  })

  test('makes the first attempt at an event that was never sent', async () => {
    const reference = await provider.charge()
    const { id } = await provider.delivery(reference, 'created', 'delivered')
    await set({ events: 'none' })
    expect((await redeliver(id + 1)).body.data).toMatchObject({ event: 'transaction.pending' })
    const pending = await provider.delivery(reference, 'pending', 'delivered')
    expect(pending).toMatchObject({ id: id + 1, attempt_count: 1 })
  })

  test('rejects what cannot be sent with 4403, 1409 or 4404', async () => {
    const reference = await provider.charge()
    const { id } = await provider.delivery(reference, 'created', 'delivered')
    const answer = async () => {
      const { status, body } = await redeliver(id)
      return `${status}/${body.error.code}`
    }
    await set({ events: 'transaction.completed' })
    expect(await answer()).toBe('403/4403')
    await set({ events: 'none' })
    await changeHealth(providerId(provider.id), () => ({ disabledAt: NOON }))
    expect(await answer()).toBe('409/1409')
    await provider.webhook('remove')
    expect(await answer()).toBe('404/4404')
    await set()
  })

  test('replies the same bytes with 404/1404 for foreign, unknown and malformed ids', async () => {
    const reference = await provider.charge()
    const { id } = await provider.delivery(reference, 'created', 'delivered')
    const other = await createProvider(service, 'redelivers-other')
    const foreign = await other.send('POST', redeliverPath(id))
    expect(foreign.status).toBe(404)
    expect(foreign.body.error).toMatchObject({ code: 1404, category: 'webhooks' })
    const unknown = [
      id + 60,
      id - 100,
      1,
      0,
      -1,
      '1e9',
      '007',
      'x',
      '%00',
      '9'.repeat(16),
      reference,
    ]
    for (const one of unknown) {
      expect(shown(await redeliver(one)), String(one)).toBe(shown(foreign))
    }
    const operator = await service.operate('delivery', 'redeliver', { id: '1' })
    expect(operator).toEqual({ error: 'no such delivery' })
    expect((await provider.send('GET', statusPath(reference))).status).toBe(200)
  })
})

describe('concurrent attempts', () => {
  const receiver = useReceiver()
  const slowly =
    (code: number): Answer =>
    (response) =>
      setTimeout(() => response.writeHead(code).end(), 300)

  /** Waits until no attempt is in flight or due. */
  const settled = (reference: string): Promise<Shown> =>
    vi.waitFor(
      async () => {
        const [record] = await service.call('delivery', 'list', { reference })
        expect(record?.next_attempt_at).toBeNull()
        expect(record.attempts.length).toBe(receiver.received.length)
        return record
      },
      { timeout: 15_000, interval: 100 },
    )

  test('of 25 redeliveries each have an id and a record for each POST', async () => {
    const provider = await createProvider(service, 'impatient')
    await provider.webhook('set', { url: receiver.url(), ...CREATED, 'max-attempts': '1' })
    receiver.otherwise = () => slowly(500)
    const reference = await provider.charge()
    const { id } = await provider.delivery(reference, 'created', 'abandoned')
    const asked = []
    for (let n = 0; n < 25; n += 1)
      asked.push((await provider.send('POST', redeliverPath(id))).status)
    expect(new Set(asked)).toEqual(new Set([202]))
    const record = await settled(reference)
    const ids = idsOf(receiver.received)
    expect(new Set(ids).size).toBe(ids.length)
    expect(idsOnRecord(record).toSorted()).toEqual(ids.toSorted())
    expect(record).toMatchObject({ status: 'abandoned', attempt_count: ids.length })
    expect(ids.length).toBeLessThan(25)
  })

  test('of five workers with one message are all recorded, and the success wins', async () => {
    const provider = await createProvider(service, 'doubled')
    const reference = await provider.charge()
    receiver.received.length = 0
    receiver.answers.push(slowly(500), slowly(204), slowly(503), slowly(410), slowly(500))
    await provider.webhook('set', { url: receiver.url(), ...CREATED, 'max-attempts': '2' })
    const body = JSON.stringify({ reference, n: 0, attempt: 1 })
    const message = (n: number) => ({ messageId: `m-${n}`, body, attributes: {} })
    const worker = (n: number) => service.invoke('deliver-webhook', { Records: [message(n)] })
    await Promise.all([0, 1, 2, 3, 4].map(worker))
    const record = await settled(reference)
    // The message of the charge itself may be the sixth.
    const { length } = receiver.received
    expect(length).toBeGreaterThanOrEqual(5)
    expect(record).toMatchObject({ attempt_count: length, max_attempts: length })
    expect(record.status).toBe('delivered')
    expect(idsOnRecord(record).toSorted()).toEqual(idsOf(receiver.received).toSorted())
    expect(new Set(idsOnRecord(record)).size).toBe(length)
  })
})

describe('settings that change between two attempts', () => {
  test('abandon the event with 4403 without a subscription, and with 4404 without a webhook', async () => {
    const [, narrowed, removed] = started
    for (const [{ provider, reference }, code] of [
      [narrowed, 4403],
      [removed, 4404],
    ] as const) {
      expect(await provider.delivery(reference, 'created', 'abandoned')).toMatchObject({
        attempt_count: 1,
        next_attempt_at: null,
        failed_at: TIME,
        reason: { code },
        attempts: [{ attempt: 1, response_code: 503 }],
      })
      expect(await odd.events(reference, 1)).toHaveLength(1)
    }
  })

  test('sign the next attempt with both secrets after a rotation', async () => {
    const [, , , { reference, secret, changed }] = started
    const [, second] = await odd.events(reference, 2)
    const headers = second?.headers as Record<string, string>
    for (const known of [secret, changed.secret]) {
      expect(() => new Webhook(known).verify(second?.raw ?? '', headers)).not.toThrow()
    }
  })
})

describe('redeliver-event before the next attempt', () => {
  test('replaces the attempt that is due, so that each attempt number is used once', async () => {
    const [{ provider, reference, record, changed }] = started
    const { status, body } = changed
    expect(status).toBe(202)
    expect(body.data).toMatchObject({ id: record.id, status: 'pending', attempt_count: 1 })
    expect(body.data.next_attempt_at < record.next_attempt_at).toBe(true)
    // The third is due four seconds after the second, when the automatic one would have run.
    const arrived = await odd.events(reference, 3)
    const after = await provider.delivery(reference, 'created', 'delivered')
    expect(idsOnRecord(after)).toEqual(idsOf(arrived))
    expect(after).toMatchObject({ attempt_count: 3, max_attempts: 3 })
  })
})

describe('list-deliveries of failed events', () => {
  test.each(failures)('%s: class %s', async (cause, error_class, address, response_code, code) => {
    const { provider, reference } = failing.get(cause) ?? expect.fail(cause)
    await provider.delivery(reference, 'created', 'abandoned')
    const [record] = await listed(provider, reference)
    expect(record).toMatchObject({ response_code, failed_at: TIME, reason: { code } })
    expect(record.attempts).toMatchObject([{ cause, error_class, address, response_code }])
  })
})
