import { expect } from 'vitest'
import { dayAfter } from '../../shared/domain/time.ts'
import { eventually } from '../support/eventually.ts'
import { createPayee, type Payee } from '../support/payee.ts'
import { createProvider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { CHARGE, callbackPath, chargeBody, pathOf, SILENT, sign } from '../support/requests.ts'
import { codeOf, type Shown, useService } from '../support/running-service.ts'
import { useSubscribers } from '../support/subscriber.ts'
import { advance, today, useRunbooks } from './runbook.ts'

/** Runbooks about providers, banks, their credentials, limits and webhooks. */

const service = useService()
const runbook = useRunbooks(service)
const subscribers = useSubscribers(service)
const receiver = useReceiver()

const BANKS = '/api/v1/payment-providers/banks'
const LOOKUP = pathOf('lookup-customer-banks')
const DAY = 86_400

const statusOf = async (credential: string, path = BANKS): Promise<string> =>
  codeOf(await service.get(path, credential))

/** Creates a webhook whose receiver fails for some days; five disable it. */
const failing = async (id: string, days: number) => {
  const subscriber = await subscribers.subscribe(id, { 'max-attempts': '1' })
  const { provider, respond } = subscriber
  const since = new Date(service.sandbox().control.clock.now()).toISOString()
  respond(503)
  const missed = [await provider.charge()]
  await provider.delivery(missed[0] ?? '', 'failed', 'abandoned')
  await advance(service, days * DAY)
  missed.push(await provider.charge())
  await provider.delivery(missed[1] ?? '', 'failed', 'abandoned')
  const [reference = ''] = missed
  const { id: delivery } = await provider.delivery(reference, 'created', 'abandoned')
  respond(204)
  return { ...subscriber, missed, since, delivery: String(delivery) }
}

/** Checks that each missed debit has its three events delivered. */
const expectDelivered = async ({ missed }: Awaited<ReturnType<typeof failing>>) => {
  await service.pass(5)
  await eventually(async () => {
    for (const reference of missed) {
      const deliveries = await service.call('delivery', 'list', { reference })
      expect(deliveries.map(({ status }: Shown) => status)).toEqual(Array(3).fill('delivered'))
    }
  })
}

runbook('operators.md#an-abandoned-webhook')(
  'a disabled webhook is enabled by a ping, and all events that it missed are delivered',
  async ({ run, values }) => {
    const subscriber = await failing('down', 5.1)
    Object.assign(values, { acme: 'down', ID: subscriber.delivery })
    values['2026-11-20T00:00:00Z'] = subscriber.since
    await run('webhook show', { health: 'disabled', disabled_at: expect.any(String) })
    const abandoned = await run('delivery list', expect.any(Array))
    expect(abandoned.map(({ id }: Shown) => String(id))).toContain(subscriber.delivery)
    await run('delivery show', {
      ...{ status: 'abandoned', body: expect.anything(), attempts: [{ response_code: 503 }] },
    })
    await run('webhook ping', { delivered: true })
    await run('webhook enable', { health: 'healthy' })
    await run('delivery recover', { provider: 'down' })
    await expectDelivered(subscriber)
  },
)

runbook('operations.md#a-banks-requests-are-refused')(
  'a bank above its limit reports again after the limit is raised',
  async ({ run, values }) => {
    for (const operation of ['update-debit-transaction', 'debit-callback']) {
      await service.call('limit', 'set', { bank: 'ECO', operation, 'per-minute': '1' })
    }
    const fields = { phone_number: SILENT, bank_identifier: 'ECO' }
    const debits = [
      await service.chargeUntil('processing', fields),
      await service.chargeUntil('processing', fields),
    ]
    const report = { status: 'completed', bank_reference: 'ECO-1' }
    const send = async (uuid: string) =>
      codeOf(
        await service.send('POST', callbackPath(uuid), {
          credential: 'bt_sandbox_eco',
          body: report,
        }),
      )
    const replies = [await send(debits[0]?.uuid ?? ''), await send(debits[1]?.uuid ?? '')]
    expect(replies).toEqual(['200', '429/1455'])
    Object.assign(values, { B: 'ECO', GCB: 'ECO', acme: 'demo' })
    await run('credential list', [{ kind: 'bank', owner: 'ECO', revoked_at: null }])
    const updates = { 'update-debit-transaction': 240 }
    await run('limit set', { overrides: updates })
    await run('limit set', { overrides: { 'debit-callback': 240 } })
    await run('limit show', { overrides: { ...updates, 'debit-callback': 240 } })
    expect(await send(debits[1]?.uuid ?? '')).toBe('200')
    await run('limit set', { overrides: expect.not.objectContaining({ 'debit-callback': 240 }) })
    await run('limit set', { overrides: { charge: 5000 } })
    await service.until(debits[1]?.reference ?? '', 'completed')
  },
)

runbook('operations.md#a-providers-key-is-misused')(
  'a revoked key and a disabled provider are refused, and lookups are limited',
  async ({ run, values }) => {
    const { credential } = await createProvider(service, 'misused')
    values.acme = 'misused'
    expect(await statusOf(credential)).toBe('200')
    const [{ id }] = await run('credential list', [{ owner: 'misused', revoked_at: null }])
    values.ID = id
    await run('credential revoke', { revoked: true })
    expect(await statusOf(credential)).toBe('401/1401')
    const next = await service.call('credential', 'issue', { provider: 'misused' })
    await run('provider disable', { status: 'suspended' })
    expect(await statusOf(next.token)).toBe('403/1403')
    await run('limit set', { overrides: { 'lookup-customer-banks': 10 } })
    await service.call('provider', 'enable', { provider: 'misused' })
    const lookups = await Promise.all(
      Array.from({ length: 12 }, () => statusOf(next.token, LOOKUP)),
    )
    expect(lookups.filter((status) => status === '200')).toHaveLength(10)
  },
)

runbook('operations.md#rotate')(
  'the secrets of a provider and of a connector are replaced from standard input',
  async ({ run, values }) => {
    const next = 'rs_next_secret_of_this_test'
    const signed = async (secret: string) =>
      codeOf(
        await service.send('GET', BANKS, {
          credential: 'sk_sandbox_signed',
          headers: sign({ path: BANKS, secret }),
        }),
      )
    const first = { '--provider': 'signed', '-': 'rs_first_secret_of_this_test' }
    await run('provider update', { signs_requests: true }, first)
    const connected = { connector: 'http', 'connector-url': 'http://127.0.0.1:9/debits' }
    await service.call('bank', 'create', { bank: 'HTB', name: 'Bank', ...connected })
    await run(
      'bank update',
      { connector: 'http' },
      { '--bank': 'HTB', '-': 'cs_secret_of_this_test' },
    )
    Object.assign(values, { acme: 'signed', 'secret.txt': next })
    await run('provider update', { signs_requests: true })
    expect([await signed(next), await signed('rs_another_secret')]).toEqual(['200', '401/1401'])
  },
)

runbook('operations.md#operators-and-their-changes')(
  'the newest changes name the operator, of all objects, of one provider and of one customer',
  async ({ run }) => {
    const acme = await createProvider(service, 'acme')
    await service.call('provider', 'disable', { provider: acme.id }, 'local:ama')
    const account = { phone: '+233241234567', bank: 'ECO' }
    await service.call('customer', 'unlink', account, 'local:esi')
    await service.call('bank', 'disable', { bank: 'CAL' }, 'local:kofi')
    const changes = await run('change list', expect.any(Array))
    const own = await run('change list', expect.any(Array))
    const ofCustomer = await run('change list', expect.any(Array))
    const shown = ([change]: Shown) => [change.noun, change.verb, change.by]
    expect(shown(changes)).toEqual(['bank', 'disable', 'local:kofi'])
    expect(shown(own)).toEqual(['provider', 'disable', 'local:ama'])
    expect(shown(ofCustomer)).toEqual(['customer', 'unlink', 'local:esi'])
  },
)

runbook('operators.md#stop-a-caller-or-a-bank')(
  'a stopped caller is refused, its debits continue, and its payouts wait until it is enabled',
  async ({ run, values }) => {
    const payee: Payee = await createPayee(service, 'stopped')
    const { uuid, reference } = await service.chargeUntil(
      'processing',
      { phone_number: SILENT },
      payee.credential,
    )
    await payee.complete('10.00')
    const [batch] = (await payee.run(dayAfter(today(service)))).built
    const other = await service.call('credential', 'issue', { provider: 'stopped' })
    Object.assign(values, { acme: 'stopped', ID: other.id })
    await run('credential revoke', { revoked: true })
    expect([await statusOf(other.token), await statusOf(payee.credential)]).toEqual([
      '401/1401',
      '200',
    ])
    await run('provider disable', { status: 'suspended' })
    expect(await statusOf(payee.credential)).toBe('403/1403')
    const held = await service.refusal('settlement', 'process', { batch: batch.id })
    expect(held).toContain('its payouts are held')
    await run('bank disable', { status: 'inactive' })
    const body = chargeBody()
    const charge = await service.send('POST', CHARGE, { credential: 'sk_sandbox_demo', body })
    expect(codeOf(charge)).toBe('402/1402')
    await service.report(uuid, { status: 'completed', bank_reference: 'GCB-0001' })
    await service.until(reference, 'completed')
    await run('bank update', { status: 'suspended' })
    expect(codeOf(await service.report(uuid, {}))).toBe('403/1403')
    await service.call('bank', 'enable', { bank: 'GCB' })
    await service.call('provider', 'enable', { provider: 'stopped' })
    expect(await payee.batch('process', batch.id)).toMatchObject({ status: 'completed' })
  },
)

runbook('operators.md#find-and-repeat')(
  'each list and view shows the objects of the sandbox',
  async ({ run, values }) => {
    const payee = await createPayee(service, 'found')
    await payee.webhook('set', { url: receiver.url('/found') })
    const [reference = ''] = await payee.complete('10.00')
    const [batch] = (await payee.run(dayAfter(today(service)))).built
    const delivery = await payee.delivery(reference, 'completed', 'delivered')
    const [credential] = await service.call('credential', 'list', { provider: 'found' })
    const has = (member: object) => expect.arrayContaining([expect.objectContaining(member)])
    await run('provider list', has({ id: 'found' }))
    await run('bank list', has({ identifier: 'GCB' }))
    await run('connector list', has({ bank: 'GCB', connector: 'sandbox' }))
    await run('webhook list', has({ provider: 'found' }))
    await run('limit list', expect.any(Array))
    values.ID = credential.id
    await run('credential show', { owner: 'found' })
    await run('connector show', { connector: 'sandbox' })
    await run('customer show', { bank: 'GCB', status: 'active' })
    await run('customer list', has({ bank: 'GCB' }))
    values.ID = batch.id
    await run('settlement report', expect.stringContaining(reference))
    values['2026-11'] = batch.date.slice(0, 7)
    await run('settlement statement', expect.stringContaining(batch.id), { acme: 'found' })
    values.ID = String(delivery.id)
    await run('delivery redeliver', { id: delivery.id, event: 'transaction.completed' })
    await run('bank behave', { behaviour: null })
    await receiver.events(reference, 5)
  },
)
