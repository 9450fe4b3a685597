import { beforeAll, describe, expect, test, vi } from 'vitest'
import { useHttpBank } from '../support/http-bank.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import {
  type Charged,
  callbackPath,
  PATIENCE,
  type Shown,
  SILENT,
  sampleEvent,
  statusPath,
  useService,
} from '../support/running-service.ts'

/** Refunds of reversed debits and late completions (docs/api.md#refunds). */

const service = useService()
const receiver = useReceiver()
const bank = useHttpBank()

let provider: Provider

beforeAll(async () => {
  await service.call('bank', 'create', bank.options())
  await service.call('credential', 'issue', { bank: 'HTB', token: 'bt_sandbox_htb' })
  provider = await createProvider(service, 'refunder')
  await provider.webhook('set', { url: receiver.url(), events: 'transaction.reversed' })
})

type Debit = Charged & { bank: string }

const show = (reference: string): Promise<Shown> => service.call('debit', 'show', { reference })

const report = (debit: Debit, body: object) =>
  service.send('POST', callbackPath(debit.uuid), {
    credential: debit.bank === 'HTB' ? 'bt_sandbox_htb' : 'bt_sandbox_gcb',
    body,
  })

const processing = async (bank_identifier: string, phone_number = SILENT): Promise<Debit> => {
  const fields = { phone_number, bank_identifier, amount: '80.00' }
  const charged = await service.chargeUntil('processing', fields, provider.credential)
  return { ...charged, bank: bank_identifier }
}

const completed = async (bank: string, phone?: string): Promise<Debit> => {
  const debit = await processing(bank, phone)
  const { status } = await report(debit, { status: 'completed', bank_reference: 'BANK-77' })
  expect(status).toBe(200)
  return debit
}

const reverse = ({ reference }: Debit) =>
  service.call('debit', 'reverse', { reference, reason: 'Goods returned' })

const refundOf = async ({ reference }: Debit): Promise<Shown> => (await show(reference)).refund

const becomes = async (debit: Debit, status: string): Promise<Shown> => {
  await vi.waitFor(async () => expect((await refundOf(debit)).status).toBe(status), PATIENCE)
  return refundOf(debit)
}

const exceptionsOf = async ({ reference }: Debit): Promise<Shown[]> => {
  const reply = await service.operate('exception', 'show', { reference })
  return 'error' in reply ? [] : (reply.result as Shown[])
}

/** Links a customer of GCB whose account number has this ending, and returns the phone number. */
const customer = async (digits: string): Promise<string> => {
  const phone = `+23324777${digits}`
  await service.call('customer', 'link', {
    phone,
    bank: 'GCB',
    name: 'Adwoa Poku',
    'account-number': `104100${digits}`,
  })
  return phone
}

const posts = ({ uuid }: Debit) =>
  bank.requests.filter(({ method, body }) => method === 'POST' && body.debit_uuid === uuid)

describe('a reversal', () => {
  test('creates a refund that the bank pays immediately and every view includes', async () => {
    const debit = await completed('HTB')
    const reversed = await reverse(debit)
    expect(reversed.refund).toMatchObject({
      status: 'pending',
      amount: '80.00',
      currency: 'GHS',
      reason: 'Goods returned',
      bank_reference: null,
    })
    const refund = await becomes(debit, 'completed')
    expect(refund).toMatchObject({
      uuid: reversed.refund.uuid,
      bank_reference: `HTB-${refund.uuid.slice(0, 8)}`,
      failed_at: null,
    })
    const read = await service.send('GET', statusPath(debit.reference), {
      credential: provider.credential,
    })
    expect(read.body.data.refund).toEqual(refund)
    const [post] = posts(debit)
    expect(post?.path).toBe('/debits/refunds')
    expect(post?.body).toEqual({
      uuid: refund.uuid,
      debit_uuid: debit.uuid,
      bank_reference: 'BANK-77',
      account_number: null,
      amount: '80.00',
      currency: 'GHS',
      reason: 'Goods returned',
      timestamp: refund.created_at,
    })
    expect(post?.headers['x-idempotency-key']).toBe(refund.uuid)
    expect(bank.refunds.filter((uuid) => uuid === refund.uuid)).toHaveLength(1)
  })

  test('sends the refund in its state at the event, also in a later delivery', async () => {
    const debit = await completed('GCB')
    const { refund } = await reverse(debit)
    await becomes(debit, 'completed')
    const [sent] = (await receiver.events(debit.reference, 1)).map(({ body }) => body)
    expect(sent.event).toBe('transaction.reversed')
    expect(sent.data.refund).toEqual({ ...refund, status: 'pending', amount: 80 })
  })

  test('that is repeated creates no second refund', async () => {
    const debit = await completed('GCB')
    const { refund } = await reverse(debit)
    await becomes(debit, 'completed')
    expect((await reverse(debit)).refund.uuid).toBe(refund.uuid)
  })

  test('of a debit that never completed creates none', async () => {
    const debit = await processing('GCB')
    expect(await service.refusal('debit', 'reverse', { ...debit, reason: 'x' })).toBeDefined()
    expect(await refundOf(debit)).toBeNull()
  })
})

describe('a refund that the bank does not make immediately', () => {
  test('is queried before it is sent again when the reply was lost', async () => {
    const debit = await completed('HTB')
    bank.conducts.push('accept, then break off')
    await reverse(debit)
    const { uuid } = await becomes(debit, 'completed')
    expect(bank.refunds.filter((refund) => refund === uuid)).toHaveLength(1)
    expect(posts(debit)).toHaveLength(1)
    expect(bank.requests.some(({ method, path }) => method === 'GET' && path.endsWith(uuid))).toBe(
      true,
    )
  })

  test.each([
    ['0000', 'failed'],
    ['9999', 'processing'],
  ])('of an account that ends in %s at the sandbox bank is %s', async (digits, status) => {
    const phone = await customer(digits)
    const debit = await completed('GCB', phone)
    await reverse(debit)
    await becomes(debit, status)
  })

  test('that is in progress is queried by the sweep until the bank has made it', async () => {
    const debit = await completed('GCB', await customer('9999'))
    await reverse(debit)
    await becomes(debit, 'processing')
    vi.useFakeTimers({ now: Date.now() + 600_000, toFake: ['Date'] })
    await service.invoke('sweep', await sampleEvent('sweep'))
    vi.useRealTimers()
    await becomes(debit, 'completed')
  })
})

describe('a refund that the bank rejects', () => {
  test('is an exception, and its retry has a new uuid', async () => {
    const debit = await completed('HTB')
    bank.conducts.push('reject')
    await reverse(debit)
    const failed = await becomes(debit, 'failed')
    expect(failed).toMatchObject({ error_message: 'The account is closed', completed_at: null })
    expect(await exceptionsOf(debit)).toMatchObject([
      {
        kind: 'refund',
        report: 'The account is closed',
        reported_by: 'bank:HTB',
        code: null,
        resolved_at: null,
      },
    ])
    const { refund } = await service.call('exception', 'refund', {
      reference: debit.reference,
      reason: 'Account reopened',
    })
    expect(refund).toMatchObject({ status: 'pending', reason: 'Account reopened' })
    expect(refund.uuid).not.toBe(failed.uuid)
    await becomes(debit, 'completed')
    const [exception] = await exceptionsOf(debit)
    expect(exception?.note).toBe(`refund ${refund.uuid}`)
    const again = await service.operate('exception', 'refund', { reference: debit.reference })
    expect(again).toEqual({ error: 'no open exception of this debit allows a refund' })
  })

  test('is an exception too when the bank has no connector', async () => {
    const debit = await completed('HTB')
    await service.call('connector', 'remove', { bank: 'HTB' })
    await reverse(debit)
    const failed = await becomes(debit, 'failed')
    expect(failed.error_message).toBe('the bank does not support refunds')
    const settings = { 'connector-url': bank.url(), 'connector-secret': bank.secret }
    await service.call('connector', 'set', { bank: 'HTB', connector: 'http', ...settings })
    await service.call('exception', 'refund', { reference: debit.reference })
    await becomes(debit, 'completed')
  })

  test('is not sent again after a note resolves it', async () => {
    const debit = await completed('HTB')
    bank.conducts.push('reject')
    await reverse(debit)
    await becomes(debit, 'failed')
    const { reference } = debit
    await service.call('exception', 'resolve', {
      reference,
      kind: 'refund',
      note: 'Repaid in cash',
    })
    expect(await service.operate('exception', 'refund', { reference })).toHaveProperty('error')
    expect((await refundOf(debit)).status).toBe('failed')
  })
})

describe('a late completion', () => {
  const late = async (): Promise<Debit> => {
    const debit = await processing('HTB')
    await report(debit, { status: 'failed', bank_reference: 'B-1', error_message: 'Declined' })
    await report(debit, { status: 'completed', bank_reference: 'B-1' })
    return debit
  }

  test('is refunded by an operator, which resolves its exceptions', async () => {
    const debit = await late()
    await report(debit, { status: 'completed', bank_reference: 'B-1' })
    const { refund } = await service.call('exception', 'refund', { reference: debit.reference })
    expect(refund.reason).toBe('The bank debited the customer after the debit had failed')
    await becomes(debit, 'completed')
    const resolved = await exceptionsOf(debit)
    expect(resolved).toHaveLength(2)
    expect(resolved.every(({ resolved_at }) => resolved_at !== null)).toBe(true)
    expect(bank.refunds.filter((uuid) => uuid === refund.uuid)).toHaveLength(1)
    const read = await service.send('GET', statusPath(debit.reference), {
      credential: provider.credential,
    })
    expect(read.body.data).toMatchObject({ status: 'failed', refund: { status: 'completed' } })
  })

  test('that two operators refund concurrently is refunded once', async () => {
    const debit = await late()
    const { reference } = debit
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => service.operate('exception', 'refund', { reference })),
    )
    expect(replies.some((reply) => 'result' in reply)).toBe(true)
    const { uuid } = await becomes(debit, 'completed')
    expect(bank.refunds.filter((one) => one === uuid)).toHaveLength(1)
    expect(posts(debit).every(({ body }) => body.uuid === uuid)).toBe(true)
  })

  test('reported again after its refund is resolved by the same refund', async () => {
    const debit = await late()
    const { reference } = debit
    const { refund } = await service.call('exception', 'refund', { reference })
    await becomes(debit, 'completed')
    await report(debit, { status: 'completed', bank_reference: 'B-1' })
    expect((await service.call('exception', 'refund', { reference })).refund.uuid).toBe(refund.uuid)
    expect(bank.refunds.filter((uuid) => uuid === refund.uuid)).toHaveLength(1)
  })
})
