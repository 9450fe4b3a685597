import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { createProvider } from '../support/provider.ts'
import { type Charged, type Shown, useService } from '../support/running-service.ts'
import { useSubscribers } from '../support/subscriber.ts'

/** The cap on the approval prompts of a customer (docs/api.md#approval-prompts). */

const service = useService()
const bank = useHttpBank(service)
const { receiver, subscribe } = useSubscribers(service)

const PHONE = '+233245678901'
const CHARGES = 30

const charge = (credential: string, n: number, phone_number = PHONE) =>
  service.charge(
    { phone_number, bank_identifier: 'HTB', partner_reference: `order-${n}` },
    credential,
  )

test('only five of 60 charges of two providers to one phone reach the bank, and the others fail with a webhook', async () => {
  const { provider } = await subscribe('flooding', { events: 'transaction.failed' })
  const one = provider.credential
  const { credential: other } = await createProvider(service, 'other-shop')
  await service.call('bank', 'update', { bank: 'HTB', 'open-prompts-max': '5' })
  // In turn: an earlier charge that is stored later would have room of its own.
  const charged: Charged[] = []
  for (let n = 0; n < CHARGES; n += 1) {
    charged.push(await charge(one, n), await charge(other, n))
  }
  const settled = await eventually(async () => {
    const debits: Shown[] = await service.call('debit', 'list', { phone: PHONE, limit: '100' })
    if (debits.some(({ status }) => status === 'pending')) throw new Error('some are pending')
    return debits
  })
  expect(settled).toHaveLength(2 * CHARGES)
  const processing = settled.filter(({ status }) => status === 'processing')
  expect(processing).toHaveLength(5)
  expect(bank.made.toSorted()).toEqual(processing.map(({ uuid }) => uuid).sort())
  const ofOne = processing.filter(({ provider }) => provider === 'flooding')
  expect([2, 3]).toContain(ofOne.length)

  const refused = settled.find(
    ({ status, provider }) => status === 'failed' && provider === 'flooding',
  )
  const message = 'Too many approval requests for this customer'
  const code = 'transaction_declined'
  expect(refused).toMatchObject({ error_message: message, error_code: code, processed_at: null })
  const [event] = await receiver.events(refused.reference, 1)
  expect(event?.body.data).toMatchObject({ error_details: { code, message } })
  // A replay answers with the failed debit, and another phone has prompts of its own.
  const n = charged.findIndex(({ reference }) => reference === refused.reference)
  expect(await charge(one, Math.floor(n / 2))).toMatchObject({ reference: refused.reference })
  const { reference } = await charge(one, 1_000, '+233245678902')
  await service.until(reference, 'processing')
  // The bank lists all debits of its customer.
  await service.call('customer', 'link', {
    phone: PHONE,
    bank: 'HTB',
    name: 'Ama',
    'account-number': '1041001',
  })
  const listed = async (status: string) => {
    const query = new URLSearchParams({ phone_number: PHONE, status })
    const path = `/api/v1/banks/debit-transactions?${query}`
    return (await service.get(path, 'bt_sandbox_htb')).body.data.total_count
  }
  expect([await listed('all'), await listed('failed'), await listed('processing')]).toEqual([
    60, 55, 5,
  ])
})

test('the cap of a bank is shown, and default removes it', async () => {
  const update = (value: string) =>
    service.call('bank', 'update', { bank: 'ECO', 'open-prompts-max': value })
  expect(await update('7')).toMatchObject({ open_prompts_max: 7 })
  expect(await update('default')).toMatchObject({ open_prompts_max: null })
  const refusal = await service.refusal('bank', 'update', { bank: 'ECO', 'open-prompts-max': '0' })
  expect(refusal).toBe('--open-prompts-max: must be a whole number from 1 to 1000')
})

test('the workers of slow banks count prompts, too', async () => {
  const options = { bank: 'ADB' }
  await service.call('bank', 'update', { ...options, 'open-prompts-max': '1' })
  await service.call('bank', 'behave', { ...options, as: 'slow' })
  const fields = { phone_number: '+233245678903', bank_identifier: 'ADB' }
  await service.charge({ ...fields, partner_reference: 'slow-1' })
  await eventually(async () => {
    expect((await service.call('bank', 'show', options)).health.state).toBe('slow')
  })
  const { reference } = await service.charge({ ...fields, partner_reference: 'slow-2' })
  await service.until(reference, 'failed')
  expect(await service.show(reference)).toMatchObject({
    error_message: 'Too many approval requests for this customer',
  })
})
