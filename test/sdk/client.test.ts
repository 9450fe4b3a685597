import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { resolve } from '../../commands/fixtures/references.ts'
import {
  BankReports,
  DebitCollection,
  type WebhookEvent,
  webhooks,
} from '../../sdk/typescript/src/index.ts'
import { BankStatusFilter } from '../../sdk/typescript/src/wire.ts'
import { camelCased } from '../support/camel-case.ts'
import { eventually } from '../support/eventually.ts'
import { createProvider } from '../support/provider.ts'
import { FAILS_AT_ONCE, SILENT } from '../support/requests.ts'
import { useService } from '../support/running-service.ts'
import { all, expectCall, type SdkCall } from '../support/sdk-call.ts'
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
  partnerReference: randomUUID(),
  ...fields,
})

type Step = SdkCall & { client?: object; as?: string }

/** The scenarios of both clients. */
const { scenarios }: { scenarios: { name: string; client?: object; steps: Step[] }[] } = JSON.parse(
  readFileSync('sdk/cases/service.json', 'utf8'),
)

for (const { name, client: settings = { api_key: 'sk_sandbox_other' }, steps } of scenarios) {
  test.concurrent(name, async () => {
    const first = order()
    const run = { id: first.partnerReference, address: service.sandbox().address }
    const known: Record<string, unknown> = { run }
    for (const each of steps) {
      const { client: own = settings, as = '', ...step } = resolve(each, known) as Step
      if (step.call === 'charge') step.options = { ...first, ...camelCased(step.options ?? {}) }
      known[as] = await expectCall(client(camelCased(own)), step)
    }
  })
}

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

test.concurrent('a wait ends after its timeout with the last state', async () => {
  const { reference } = await client().charge(order({ phoneNumber: SILENT }))
  await service.until(reference, 'processing')
  const waited = client().waitFor(reference, { timeout: 1_500.5 })
  await expect(waited).rejects.toMatchObject({
    name: 'WaitTimeoutError',
    mayExist: true,
    debit: { reference, status: 'processing' },
  })
})

test.concurrent('a wait ends when its signal aborts', async () => {
  const { reference } = await client().charge(order({ phoneNumber: SILENT }))
  const signal = AbortSignal.timeout(100)
  await expect(client().waitFor(reference, { signal })).rejects.toMatchObject({
    name: 'TimeoutError',
  })
})

test.concurrent('the waits for twenty debits at once stay within the rate limits', async () => {
  const debits = client({ maxRetries: 0 })
  const references = await Promise.all(
    Array.from({ length: 20 }, async () => (await debits.charge(order())).reference),
  )
  const outcomes = await Promise.all(references.map((reference) => debits.waitFor(reference)))
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['completed']))
})

test('a list of events continues from a stored cursor', async () => {
  const { credential } = await createProvider(service, 'feed-reader')
  const debits = client({ apiKey: credential })
  await debits.charge(order({ phoneNumber: FAILS_AT_ONCE }))
  const pages = await eventually(async () => {
    const read = await all(debits.events.list().pages())
    expect(read.at(-1)?.data.at(-1)?.event).toBe('transaction.failed')
    return read
  })
  const cursor = pages.at(-1)?.nextCursor ?? undefined
  expect(await all(debits.events.list({ cursor }))).toEqual([])
  const { reference } = await debits.charge(order())
  await eventually(async () => {
    const [event] = await all(debits.events.list({ cursor }))
    expect(event).toMatchObject({ data: { transaction: { reference } } })
  })
})

const events: WebhookEvent[] = []
const bodies: string[] = []
let secret = ''
const receiver = () =>
  webhooks.express({
    secrets: [secret],
    store: webhooks.memoryStore(),
    on: {
      'transaction.completed': (event) => {
        bodies.push(event.data.transaction.reference)
      },
    },
  })
let receive: ReturnType<typeof receiver> | undefined
const url = useServer(
  createServer(async (request, response) => {
    if (request.url !== '/verify') return receive?.(request, response)
    events.push(await webhooks.verify(await text(request), request.headers, secret))
    response.writeHead(204).end()
  }),
)

test('a bank reports outcomes, and lists the debits of a number', async () => {
  const charged = await Promise.all(
    ['1', '2'].map(() => client().charge(order({ phoneNumber: SILENT }))),
  )
  for (const { reference } of charged) await service.until(reference, 'processing')
  const [first = '', second = ''] = charged.map(({ uuid }) => uuid)
  const reports = new BankReports({
    ...{ apiKey: 'bt_sandbox_gcb', baseUrl: service.sandbox().address, maxRetries: 0 },
  })
  const completed = { status: 'completed', bankReference: 'B-1', approvalMethod: 'ussd' } as const
  expect(await reports.update(first, { ...completed, fee: { pesewas: 150 } })).toMatchObject({
    ...{ uuid: first, status: 'completed', bank_reference: 'B-1', fee: '1.50' },
  })
  expect(await reports.update(first, completed)).toMatchObject({ fee: '1.50' })
  const failed = { status: 'failed', bankReference: 'B-2', errorMessage: 'Declined' } as const
  await expect(reports.update(first, failed)).rejects.toMatchObject({ code: 3001, attempts: 1 })
  expect(await reports.callback(second, failed)).toMatchObject({ uuid: second, status: 'failed' })
  const listed = await all(reports.list({ phoneNumber: SILENT, status: 'failed' }))
  // An earlier debit of the number has failed, too, once its ten seconds are over.
  const uuids = listed.map(({ uuid }) => uuid)
  expect([uuids.includes(first), uuids.includes(second)]).toEqual([false, true])
  for (const status of Object.values(BankStatusFilter)) {
    await all(reports.list({ phoneNumber: SILENT, status }))
  }
  // @ts-expect-error the service refuses this filter
  const refused = reports.list({ phoneNumber: SILENT, status: 'reversed' })
  await expect(all(refused)).rejects.toMatchObject({ status: 422 })
  const unknown = all(reports.list({ phoneNumber: '+233249999999' }))
  await expect(unknown).rejects.toMatchObject({ name: 'ValidationError' })
})

test('a provider requests a reversal and reads the decision', async () => {
  await service.call('provider', 'update', { provider: 'demo', reversals: 'request' })
  const { reference, uuid } = await client().charge(order({ phoneNumber: SILENT }))
  await service.until(reference, 'processing')
  const outcome = { status: 'completed', bank_reference: 'B-1', approval_method: 'ussd' }
  await service.report(uuid, outcome)
  const request = { reason: 'Cancelled', kind: 'complaint' } as const
  const requested = await client().requestReversal(reference, request)
  expect(await client().requestReversal(reference, request)).toEqual(requested)
  await service.call('exception', 'resolve', { reference, note: 'Delivered' })
  expect((await client().get(reference)).reversal_request).toMatchObject({
    ...request,
    ...{ status: 'declined', note: 'Delivered', respond_by: requested.respond_by },
  })
})

test('a receiver verifies the events of the service and applies them', async () => {
  const set = async (path: string) => {
    const options = { provider: 'demo', url: url() + path }
    secret = (await service.call('webhook', 'set', options)).secret ?? secret
  }
  await set('/verify')
  await client().webhook.test()
  expect(events.at(-1)).toMatchObject({ event: 'ping' })
  receive = receiver()
  await set('/webhooks')
  const { reference } = await client().charge(order())
  await eventually(() => expect(bodies).toContain(reference))
  const deliveries = await eventually(async () => {
    const listed = await client().deliveries.list(reference)
    expect(listed).toHaveLength(4)
    expect(new Set(listed.map(({ status }) => status))).toEqual(new Set(['delivered']))
    return listed
  })
  expect(await client().deliveries.redeliver(deliveries[0]?.id ?? 0)).toMatchObject({
    reference,
    status: 'pending',
  })
})
