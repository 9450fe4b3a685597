import { expect, test } from 'vitest'
import { createProvider } from '../support/provider.ts'
import { SILENT } from '../support/requests.ts'
import { type Shown, useService } from '../support/running-service.ts'
import { CREATED, useSubscribers } from '../support/subscriber.ts'

/** Lists and views that operators read in the console. */

const service = useService({ timeScale: 60 })
const { receiver, subscribe } = useSubscribers(service)

test('a list without a provider or status has the newest debits of all providers', async () => {
  const { charge } = await createProvider(service, 'newest')
  const { reference: first } = await service.charge({ phone_number: SILENT })
  const second = await charge()
  const { reference: third } = await service.charge()
  await service.until(third, 'completed')
  const referencesIn = async (options = {}) =>
    (await service.call('debit', 'list', options)).map(({ reference }: Shown) => reference)
  expect(await referencesIn()).toEqual([third, second, first])
  expect(await referencesIn({ limit: '2' })).toEqual([third, second])
  expect(await referencesIn({ provider: 'newest' })).toEqual([second])
  expect(await referencesIn({ status: 'completed' })).toContain(third)
  expect(await referencesIn({ status: 'completed' })).not.toContain(first)
  expect(await service.refusal('debit', 'list', { provider: 'nobody' })).toBe('no such provider')
})

test('a ping is signed, and the command prints the response of the receiver', async () => {
  const { provider, respond, arrived } = await subscribe('pinged')
  const ping = () => provider.webhook('ping')
  expect(await ping()).toMatchObject({ event: 'ping', delivered: true, response_code: 204 })
  respond(500)
  expect(await ping()).toMatchObject({ delivered: false, response_code: 500 })
  expect(arrived().map(({ body }) => body.event)).toEqual(['ping', 'ping'])
})

test('a delivery has the attempts and the sent body, in which the customer is masked', async () => {
  const { debit, provider } = await subscribe('shown', CREATED)
  const { reference, record } = await debit('delivered')
  const shown = await service.call('delivery', 'show', { id: String(record.id) })
  const [sent] = await receiver.events(reference, 1)
  const { transaction, ...rest } = sent?.body.data ?? {}
  const masked = { name: null, phone_number: '+233*****0001', account_number: null }
  expect(shown).toMatchObject({
    reference,
    event: 'transaction.created',
    attempts: [{ attempt: 1, response_code: 204 }],
  })
  const data = { ...rest, transaction: { ...transaction, customer: masked } }
  expect(shown.body).toEqual({ ...sent?.body, data })
  await provider.webhook('remove')
  expect(await service.call('delivery', 'show', { id: String(record.id) })).toEqual(shown)
})

test.each(['0', '1', 'x'])('the id %s, which does not exist, is refused', async (id) => {
  expect(await service.refusal('delivery', 'show', { id })).toBe('no such delivery')
})
