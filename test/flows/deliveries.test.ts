import { beforeAll, describe, expect, test, vi } from 'vitest'
import { changeHealth } from '../../shared/store/webhooks/health.ts'
import { NOON, providerId } from '../support/examples.ts'
import { createProvider, deliveriesPath, redeliverPath } from '../support/provider.ts'
import { type Answer, type Received, useReceiver } from '../support/receiver.ts'
import { codeOf, PATIENCE, type Shown, textOf, useService } from '../support/running-service.ts'

/** Delivery records and redeliveries, for providers and operators. */

const service = useService()
const receiver = useReceiver()

const ONCE = { 'max-attempts': '1' }
const CREATED = { events: 'transaction.created' }
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

const saying =
  (code: number, body: string | Buffer = '', delayMs = 0): Answer =>
  (response) =>
    setTimeout(() => response.writeHead(code).end(body), delayMs)

const setUp = async (id: string, settings = {}) => {
  const provider = await createProvider(service, id)
  // Recovery sends abandoned events of the other providers at any time.
  const script = (...answers: Answer[]) => receiver.script(`/${id}`, ...answers)
  const set = (options = {}) => provider.webhook('set', { url: receiver.url(`/${id}`), ...options })
  await set({ ...CREATED, ...settings })
  /** Creates a debit and waits for the status of its first event. */
  const debit = async (status: string) => {
    const reference = await provider.charge()
    return { reference, record: await provider.delivery(reference, 'created', status) }
  }
  const listed = async (reference: string): Promise<Shown[]> =>
    (await provider.get(deliveriesPath(reference))).body.data
  const redeliver = (id: unknown) => provider.send('POST', redeliverPath(id))
  return { provider, script, set, debit, listed, redeliver }
}

const idsOf = (arrived: readonly Received[]): string[] =>
  arrived.map(({ headers }) => String(headers['x-svc-delivery-id'])).sort()
const idsOnRecord = ({ attempts }: Shown): string[] =>
  attempts.map(({ request_headers }: Shown) => request_headers['X-SVC-Delivery-ID']).sort()

describe('list-deliveries', () => {
  let own: Awaited<ReturnType<typeof setUp>>
  beforeAll(async () => {
    own = await setUp('lists', { 'max-attempts': '2' })
  })

  test('returns every published field of each event and the log of its attempts', async () => {
    own.script(saying(503, 'busy'))
    const { reference } = await own.debit('failed')
    await own.provider.attempt(reference, 0, 2)
    const arrived = await receiver.events(reference, 2)
    const [record, ...more] = await own.listed(reference)
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
    const busy = { response_code: 503, response_body: 'busy' }
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

  test('returns the response of a receiver as harmless text of at most 4,096 characters', async () => {
    const rows: [string | Buffer, string][] = [
      ['\u001b[31mred\u0007\u009b\u0000', '\\u001b[31mred\\u0007\\u009b\\u0000'],
      ['<b onclick="x">&amp;', '\\u003cb onclick="x"\\u003e\\u0026amp;'],
      ['a\r\nb\tc\u2028d\u202etxt', 'a\\u000d\\u000ab\\u0009c\\u2028d\\u202etxt'],
      [Buffer.from([0xff, 0xfe]), '\ufffd\ufffd'],
      ['x'.repeat(10_000), 'x'.repeat(4_096)],
    ]
    for (const [body, response_body] of rows) {
      own.script(saying(400, body))
      const { reference } = await own.debit('abandoned')
      const shown = { response_code: 400, response_body }
      expect(await own.listed(reference)).toMatchObject([{ ...shown, attempts: [shown] }])
    }
  })

  test('replies the same bytes with 404/3404 for foreign and unknown debits', async () => {
    const reference = await own.provider.charge()
    const other = await createProvider(service, 'lists-other')
    const foreign = await other.get(deliveriesPath(reference))
    expect(codeOf(foreign)).toBe('404/3404')
    for (const unknown of ['DCS-20261121-000000', 'x', '%00', reference.toLowerCase()]) {
      expect(textOf(await other.get(deliveriesPath(unknown))), unknown).toBe(textOf(foreign))
    }
    const without = await other.charge()
    expect((await other.get(deliveriesPath(without))).body.data).toEqual([])
  })

  test.each([
    ['broken', 'connect', null, 4001, (response) => response.destroy()],
    ['redirect', 'redirect', 307, 4001, 307],
    ['status', 'status', 501, 4001, 501],
  ] as [string, string, number | null, number, Answer][])(
    'returns the cause %s of class %s',
    async (cause, error_class, response_code, code, answer) => {
      const { script, debit, listed } = await setUp(`fails-${cause}`, ONCE)
      script(answer)
      const { reference } = await debit('abandoned')
      expect(await listed(reference)).toMatchObject([
        {
          ...{ attempt_count: 1, response_code, failed_at: TIME, delivered_at: null },
          ...{ reason: { code }, attempts: [{ cause, error_class, response_code }] },
        },
      ])
      expect(await receiver.events(reference, 1)).toHaveLength(1)
    },
  )

  test('lets the operator list those of a debit, and the newest of a provider by status', async () => {
    const { provider, script, debit, listed } = await setUp('operator-lists', ONCE)
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
    const line = '--reference or --provider is required'
    expect(await service.refusal('delivery', 'list')).toBe(line)
  })
})

describe('redeliver-event', () => {
  let own: Awaited<ReturnType<typeof setUp>>
  beforeAll(async () => {
    own = await setUp('redelivers', ONCE)
  })

  test('makes one extra attempt at an abandoned event', async () => {
    own.script(500)
    const { reference, record } = await own.debit('abandoned')
    const { body } = await own.redeliver(record.id)
    expect(body.data).toMatchObject({ status: 'pending', max_attempts: 2, failed_at: null })
    const after = await own.provider.delivery(reference, 'created', 'delivered')
    expect(after).toMatchObject({ attempt_count: 2, reason: null })
    const [first, second] = await receiver.events(reference, 2)
    expect(second?.raw).toBe(first?.raw)
  })

  test('sends a delivered event again, which stays delivered if the attempt fails', async () => {
    const { reference, record } = await own.debit('delivered')
    const { delivered_at } = record
    own.script(500)
    const requested = await service.call('delivery', 'redeliver', { id: String(record.id) })
    expect(requested).toMatchObject({ status: 'pending', delivered_at })
    const arrived = await receiver.events(reference, 2)
    const after = await own.provider.delivery(reference, 'created', 'delivered')
    expect(idsOnRecord(after)).toEqual(idsOf(arrived))
    const failed = { attempt_count: 2, failed_at: null, reason: { code: 4001 } }
    expect(after).toMatchObject({ ...failed, delivered_at })
  })

  test('replaces the attempt that is due, so that each attempt number is used once', async () => {
    const { provider, script, debit, redeliver } = await setUp('replaced')
    script(503, 503)
    const { reference, record } = await debit('failed')
    const { body } = await redeliver(record.id)
    expect(body.data).toMatchObject({ id: record.id, status: 'pending', attempt_count: 1 })
    expect(body.data.next_attempt_at < record.next_attempt_at).toBe(true)
    await receiver.events(reference, 2)
    await provider.delivery(reference, 'created', 'failed')
    // The automatic second attempt and then the third.
    await provider.attempt(reference, 0, 2)
    await provider.attempt(reference, 0, 3)
    const after = await provider.delivery(reference, 'created', 'delivered')
    expect(idsOnRecord(after)).toEqual(idsOf(await receiver.events(reference, 3)))
    expect(after).toMatchObject({ attempt_count: 3, max_attempts: 3 })
  })

  test('makes the first attempt at an event that was never sent', async () => {
    const { reference, record } = await own.debit('delivered')
    await own.set({ events: 'none' })
    const next = record.id + 1
    expect((await own.redeliver(next)).body.data).toMatchObject({ event: 'transaction.pending' })
    const pending = await own.provider.delivery(reference, 'pending', 'delivered')
    expect(pending).toMatchObject({ id: next, attempt_count: 1 })
  })

  test('rejects what cannot be sent with 4403, 1409 or 4404', async () => {
    const { provider, debit, redeliver, set } = await setUp('unsendable')
    const { id } = (await debit('delivered')).record
    const code = async () => codeOf(await redeliver(id))
    await set({ events: 'transaction.completed' })
    expect(await code()).toBe('403/4403')
    await set({ events: 'none' })
    await changeHealth(providerId(provider.id), () => ({ disabledAt: NOON }))
    expect(await code()).toBe('409/1409')
    await provider.webhook('remove')
    expect(await code()).toBe('404/4404')
  })

  test('replies the same bytes with 404/1404 for foreign, unknown and malformed ids', async () => {
    await own.set(CREATED)
    const { reference, record } = await own.debit('delivered')
    const other = await createProvider(service, 'redelivers-other')
    const foreign = await other.send('POST', redeliverPath(record.id))
    expect(codeOf(foreign)).toBe('404/1404')
    expect(foreign.body.error.category).toBe('webhooks')
    const malformed = [1, 0, -1, '1e9', '007', 'x', '%00', '9'.repeat(16), reference]
    for (const one of [record.id + 60, record.id - 100, ...malformed]) {
      expect(textOf(await own.redeliver(one)), String(one)).toBe(textOf(foreign))
    }
    const line = 'no such delivery'
    expect(await service.refusal('delivery', 'redeliver', { id: '1' })).toBe(line)
  })
})

describe('concurrent attempts', () => {
  /** Waits until the record has every POST of its event and none is due. */
  const settled = (reference: string, posts: () => Received[]): Promise<Shown> =>
    vi.waitFor(async () => {
      const [record] = await service.call('delivery', 'list', { reference })
      expect(record?.next_attempt_at).toBeNull()
      expect(idsOnRecord(record)).toEqual(idsOf(posts()))
      return record
    }, PATIENCE)

  const posts = (path: string) => receiver.received.filter((request) => request.path === path)

  test('of ten redeliveries each have an id and a record, and several requests count once', async () => {
    const { script, debit, redeliver } = await setUp('impatient', ONCE)
    script(500, ...Array(10).fill(saying(500, '', 50)))
    const { reference, record } = await debit('abandoned')
    const codes = []
    for (let n = 0; n < 10; n += 1) codes.push(codeOf(await redeliver(record.id)))
    expect(new Set(codes)).toEqual(new Set(['202']))
    const last = await settled(reference, () => posts('/impatient'))
    expect(last).toMatchObject({ status: 'abandoned' })
    expect(posts('/impatient').length).toBeLessThan(11)
  })
})

describe('settings that change between two attempts', () => {
  const changes: [string, (own: Awaited<ReturnType<typeof setUp>>) => Promise<unknown>, number][] =
    [
      ['narrowed', ({ set }) => set({ events: 'transaction.completed' }), 4403],
      ['removed', ({ provider }) => provider.webhook('remove'), 4404],
    ]

  test.each(changes)('abandon the event: %s', async (id, change, code) => {
    const own = await setUp(id)
    own.script(503)
    const { reference } = await own.debit('failed')
    await change(own)
    await own.provider.attempt(reference, 0, 2)
    expect(await own.provider.delivery(reference, 'created', 'abandoned')).toMatchObject({
      ...{ attempt_count: 1, next_attempt_at: null, failed_at: TIME, reason: { code } },
      attempts: [{ attempt: 1, response_code: 503 }],
    })
    expect(await receiver.events(reference, 1)).toHaveLength(1)
  })
})
