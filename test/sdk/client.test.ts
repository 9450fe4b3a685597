import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, test, vi } from 'vitest'
import { DebitCollection, type WebhookEvent, webhooks } from '../../sdk/typescript/src/index.ts'
import { createProvider } from '../support/provider.ts'
import { FAILS_AT_ONCE, SILENT } from '../support/requests.ts'
import { PATIENCE, useService } from '../support/running-service.ts'
import { useServer } from '../support/servers.ts'

/** The client against the service. */

const service = useService({ timeScale: 60 })

const client = (options = {}) =>
  new DebitCollection({ apiKey: 'sk_sandbox_demo', baseUrl: service.sandbox().address, ...options })

const order = (fields = {}) => ({
  phoneNumber: '+233241234567',
  bankIdentifier: 'GCB',
  amount: '100.00',
  narration: 'Order 1',
  partnerReference: `order-${randomUUID()}`,
  ...fields,
})

/** Returns the items of a list. */
const all = async <Item>(list: AsyncIterable<Item>): Promise<Item[]> => {
  const items: Item[] = []
  for await (const item of list) items.push(item)
  return items
}

describe('a charge', () => {
  test('a charge returns the pending debit, and a repeat returns it as replayed', async () => {
    const first = order()
    const debit = await client().charge(first)
    const bank = { name: 'GCB Bank PLC', identifier: 'GCB', country_code: 'GH' }
    expect(debit).toMatchObject({ status: 'pending', bank, replayed: false })
    const { reference, uuid } = debit
    expect(await client().charge(first)).toMatchObject({ reference, uuid, replayed: true })
  })

  test('a charge with the partnerReference of another charge names its debit', async () => {
    const first = order()
    const { reference, uuid } = await client().charge(first)
    const error = await client()
      .charge({ ...first, amount: '2.00' })
      .catch((caught) => caught)
    expect(error).toMatchObject({ name: 'DuplicateReferenceError', existing: { reference, uuid } })
  })

  test('a charge with an invalid field names the field', async () => {
    const charged = client().charge(order({ phoneNumber: '024' }))
    await expect(charged).rejects.toMatchObject({
      name: 'ValidationError',
      code: 1007,
      category: 'validation',
      docUrl: expect.stringMatching(/#c1007$/),
      fields: { phone_number: expect.arrayContaining([expect.stringContaining('E.164')]) },
      requestId: expect.any(String),
    })
  })

  test('a charge of a provider that must sign is signed', async () => {
    const keys = { apiKey: 'sk_sandbox_signed', signingSecret: 'rs_sandbox_signed' }
    const signing = client(keys)
    const { reference } = await signing.charge(order())
    const [listed] = await all(signing.list({ status: 'pending', partnerReference: 'a b&c=d' }))
    expect(listed).toBeUndefined()
    expect((await signing.get(reference)).reference).toBe(reference)
    await expect(client({ apiKey: 'sk_sandbox_signed' }).get(reference)).rejects.toMatchObject({
      name: 'AuthenticationError',
      code: 1401,
    })
  })
})

test.each(['return', 'reject'])(
  'a charge whose first reply is lost returns its debit, with duplicates: %s',
  async (duplicates) => {
    const { credential } = await createProvider(service, `lost-${duplicates}`, { duplicates })
    let attempts = 0
    const losesReply: typeof fetch = async (...request) => {
      const response = await fetch(...request)
      attempts += 1
      if (attempts > 1) return response
      await response.body?.cancel()
      throw new TypeError('terminated')
    }
    const first = order()
    const debit = await client({ apiKey: credential, fetch: losesReply }).charge(first)
    expect(debit).toMatchObject({ replayed: true })
    const list = client({ apiKey: credential }).list()
    expect(await all(list)).toMatchObject([{ reference: debit.reference }])
    const repeated = client({ apiKey: credential }).charge(first)
    // The debit may have changed between the two replies.
    const { reference, uuid, bank } = debit
    if (duplicates === 'return')
      expect(await repeated).toMatchObject({ reference, uuid, bank, replayed: true })
    else await expect(repeated).rejects.toMatchObject({ code: 3003, existing: { reference } })
  },
)

describe('waitFor', () => {
  test('a wait returns the debit with its outcome', async () => {
    const { reference } = await client().charge(order())
    expect(await client().waitFor(reference)).toMatchObject({ reference, status: 'completed' })
    const failing = await client().charge(order({ phoneNumber: '+233209876543' }))
    const failed = await client().waitFor(failing.reference)
    expect(failed).toMatchObject({ status: 'failed', error_details: { code: expect.any(String) } })
  })

  test('a wait ends after its timeout with the last state', async () => {
    const { reference } = await client().charge(order({ phoneNumber: SILENT }))
    const waited = client().waitFor(reference, { timeout: 1_500 })
    await expect(waited).rejects.toMatchObject({
      name: 'WaitTimeoutError',
      debit: { reference, status: 'processing' },
    })
  })

  test('a wait ends when its signal aborts, and when the debit does not exist', async () => {
    const { reference } = await client().charge(order({ phoneNumber: SILENT }))
    const signal = AbortSignal.timeout(100)
    await expect(client().waitFor(reference, { signal })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
    await expect(client().waitFor('DCS-20261121-ABC123')).rejects.toMatchObject({ code: 3404 })
  })

  test('the waits for twenty debits at once stay within the rate limits', async () => {
    const debits = client({ maxRetries: 0 })
    const references = await Promise.all(
      Array.from({ length: 20 }, async () => (await debits.charge(order())).reference),
    )
    const outcomes = await Promise.all(references.map((reference) => debits.waitFor(reference)))
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['completed']))
  })
})

describe('a list', () => {
  test('a list is read over all its pages, and page by page', async () => {
    const other = client({ apiKey: 'sk_sandbox_other' })
    const partnerReferences: string[] = []
    for (let count = 0; count < 5; count += 1) {
      const { partnerReference } = order()
      partnerReferences.unshift(partnerReference)
      await other.charge(order({ partnerReference }))
    }
    const listed = (await all(other.list())).map((debit) => debit.partner_reference)
    expect(listed).toEqual(partnerReferences)
    const [page] = await all(other.list().pages())
    expect(page).toMatchObject({ nextCursor: null, hasMore: false })
    expect(page?.data).toHaveLength(5)
  })

  test('a list finds a debit by its partnerReference', async () => {
    const first = order()
    const { reference } = await client().charge(first)
    const found = await client().findByPartnerReference(first.partnerReference)
    expect(found).toMatchObject({ reference, partner_reference: first.partnerReference })
    expect(await client().findByPartnerReference('order-unknown')).toBeUndefined()
  })

  test('a list of events continues from a stored cursor', async () => {
    const { credential } = await createProvider(service, 'feed-reader')
    const debits = client({ apiKey: credential })
    await debits.charge(order({ phoneNumber: FAILS_AT_ONCE }))
    const pages = await vi.waitFor(async () => {
      const read = await all(debits.events.list().pages())
      expect(read.at(-1)?.data.at(-1)?.event).toBe('transaction.failed')
      return read
    }, PATIENCE)
    const cursor = pages.at(-1)?.nextCursor ?? undefined
    expect(await all(debits.events.list({ cursor }))).toEqual([])
    const { reference } = await debits.charge(order())
    await vi.waitFor(async () => {
      const [event] = await all(debits.events.list({ cursor }))
      expect(event).toMatchObject({ data: { transaction: { reference } } })
    }, PATIENCE)
  })
})

test('the banks, lookups and settlements have the types of their replies', async () => {
  const debits = client()
  expect((await debits.banks.list()).map(({ identifier }) => identifier)).toContain('GCB')
  expect(await debits.banks.get('GCB')).toMatchObject({ identifier: 'GCB' })
  expect(await debits.banks.lookup('+233241234567')).toMatchObject({
    customer: 'Ama Mensah',
    banks: expect.arrayContaining([expect.objectContaining({ identifier: 'GCB' })]),
  })
  await expect(debits.settlements.get('STL-20261122-ABC123')).rejects.toMatchObject({ code: 5404 })
  expect(await all(debits.settlements.list())).toEqual([])
})

describe('a receiver', () => {
  const events: WebhookEvent[] = []
  const bodies: string[] = []
  let secret = ''
  const receive = webhooks.express({
    get secrets() {
      return [secret]
    },
    store: webhooks.memoryStore(),
    on: {
      'transaction.completed': (event) => {
        bodies.push(event.data.transaction.reference)
      },
    },
  })
  const url = useServer(
    createServer(async (request, response) => {
      if (request.url !== '/verify') return receive(request, response)
      events.push(await webhooks.verify(await text(request), request.headers, secret))
      response.writeHead(204).end()
    }),
  )

  test('a receiver verifies the events of the service and applies them', async () => {
    const set = async (path: string) => {
      secret = (await service.call('webhook', 'set', { provider: 'demo', url: url() + path }))
        .secret
    }
    await set('/verify')
    await client().webhook.test()
    expect(events.at(-1)).toMatchObject({ event: 'ping' })
    await set('/webhooks')
    const { reference } = await client().charge(order())
    await vi.waitFor(() => expect(bodies).toContain(reference), PATIENCE)
    const deliveries = await vi.waitFor(async () => {
      const listed = await client().deliveries.list(reference)
      expect(listed).toHaveLength(4)
      expect(new Set(listed.map(({ status }) => status))).toEqual(new Set(['delivered']))
      return listed
    }, PATIENCE)
    expect(await client().deliveries.redeliver(deliveries[0]?.id ?? 0)).toMatchObject({
      reference,
      status: 'pending',
    })
  })
})
