import { beforeAll, describe, expect, test, vi } from 'vitest'
import { useHttpBank } from '../support/http-bank.ts'
import { createProvider, type Provider, printed, type Shown } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import {
  CHARGE,
  chargeBody,
  sampleEvent,
  statusPath,
  useService,
} from '../support/running-service.ts'

/** A reversed debit and a late completion give the customer's money back through the bank. */

const service = useService()
const receiver = useReceiver()
const bank = useHttpBank()

const LONG = { timeout: 30_000, interval: 50 }
let provider: Provider

beforeAll(async () => {
  const settings = { 'connector-url': bank.url(), 'connector-secret': bank.secret }
  await operate('bank', 'create', {
    bank: 'HTB',
    name: 'Test Bank',
    connector: 'http',
    ...settings,
  })
  await operate('credential', 'issue', { bank: 'HTB', token: 'bt_sandbox_htb' })
  provider = await createProvider(service, 'refunder')
  await provider.webhook('set', { url: receiver.url(), events: 'transaction.reversed' })
})

const operate = async (noun: string, verb: string, options: Record<string, string>) =>
  printed(await service.operate(noun, verb, options))

type Debit = { reference: string; uuid: string; bank: string }

const show = (reference: string): Promise<Shown> => operate('debit', 'show', { reference })

const report = (debit: Debit, body: object) =>
  service.send('POST', `/api/v1/banks/debit-transactions/${debit.uuid}/callback`, {
    credential: debit.bank === 'HTB' ? 'bt_sandbox_htb' : 'bt_sandbox_gcb',
    body,
  })

/** A debit that its bank accepted. */
const processing = async (at: string, phone = '+233244444444'): Promise<Debit> => {
  const { body } = await service.send('POST', CHARGE, {
    credential: provider.credential,
    body: chargeBody({ phone_number: phone, bank_identifier: at, amount: '80.00' }),
  })
  const { reference, response } = body.data
  await vi.waitFor(async () => expect((await show(reference)).status).toBe('processing'), LONG)
  return { reference, uuid: response.uuid, bank: at }
}

const completed = async (at: string, phone?: string): Promise<Debit> => {
  const debit = await processing(at, phone)
  const { status } = await report(debit, { status: 'completed', bank_reference: 'BANK-77' })
  expect(status).toBe(200)
  return debit
}

const reverse = ({ reference }: Debit) =>
  operate('debit', 'reverse', { reference, reason: 'Goods returned' })

const refundOf = async ({ reference }: Debit): Promise<Shown> => (await show(reference)).refund

const becomes = async (debit: Debit, status: string): Promise<Shown> => {
  await vi.waitFor(async () => expect((await refundOf(debit)).status).toBe(status), LONG)
  return refundOf(debit)
}

const exceptionsOf = async ({ reference }: Debit): Promise<Shown[]> => {
  const reply = await service.operate('exception', 'show', { reference })
  return 'error' in reply ? [] : (reply.result as Shown[])
}

/** The debit by a customer of GCB whose account number has this ending. */
const customer = async (digits: string): Promise<string> => {
  const phone = `+23324777${digits}`
  await operate('customer', 'link', {
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
  test('opens a refund that the bank pays at once, and every view includes it', async () => {
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

  test('shows the refund as it was at the event, also in a later delivery', async () => {
    const debit = await completed('GCB')
    const { refund } = await reverse(debit)
    await becomes(debit, 'completed')
    const [sent] = (await receiver.events(debit.reference, 1)).map(({ body }) => body)
    expect(sent.event).toBe('transaction.reversed')
    expect(sent.data.refund).toEqual({ ...refund, status: 'pending', amount: 80 })
  })

  test('that is repeated opens no second refund', async () => {
    const debit = await completed('GCB')
    const { refund } = await reverse(debit)
    await becomes(debit, 'completed')
    expect((await reverse(debit)).refund.uuid).toBe(refund.uuid)
  })

  test('of a debit that never completed opens none', async () => {
    const debit = await processing('GCB')
    expect(await service.operate('debit', 'reverse', { ...debit, reason: 'x' })).toHaveProperty(
      'error',
    )
    expect(await refundOf(debit)).toBeNull()
  })
})

describe('a refund that the bank does not make at once', () => {
  test('is queried before it is sent again, when the reply was lost', async () => {
    const debit = await completed('HTB')
    bank.conducts.push('accept, then break off')
    await reverse(debit)
    const { uuid } = await becomes(debit, 'completed')
    expect(bank.refunds.filter((one) => one === uuid)).toHaveLength(1)
    expect(posts(debit)).toHaveLength(1)
    expect(bank.requests.some(({ method, path }) => method === 'GET' && path.endsWith(uuid))).toBe(
      true,
    )
  })

  test.each([
    ['0000', 'failed'],
    ['9999', 'processing'],
  ])('an account that ends in %s at the sandbox bank leaves it %s', async (digits, status) => {
    const phone = await customer(digits)
    const debit = await completed('GCB', phone)
    await reverse(debit)
    await becomes(debit, status)
  })

  test('that is in progress is queried by the sweep, until the bank has made it', async () => {
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
  test('is an exception, and its retry has another uuid', async () => {
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
    const { refund } = await operate('exception', 'refund', {
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

  test('or cannot make, as it has no connector, is an exception too', async () => {
    const debit = await completed('HTB')
    await operate('connector', 'remove', { bank: 'HTB' })
    await reverse(debit)
    const failed = await becomes(debit, 'failed')
    expect(failed.error_message).toBe('the bank does not support refunds')
    const settings = { 'connector-url': bank.url(), 'connector-secret': bank.secret }
    await operate('connector', 'set', { bank: 'HTB', connector: 'http', ...settings })
    await operate('exception', 'refund', { reference: debit.reference })
    await becomes(debit, 'completed')
  })

  test('is not sent again once a note says that it was settled by hand', async () => {
    const debit = await completed('HTB')
    bank.conducts.push('reject')
    await reverse(debit)
    await becomes(debit, 'failed')
    const { reference } = debit
    await operate('exception', 'resolve', { reference, kind: 'refund', note: 'Repaid in cash' })
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

  test('is refunded by an operator, and its exceptions are resolved', async () => {
    const debit = await late()
    await report(debit, { status: 'completed', bank_reference: 'B-1' })
    const { refund } = await operate('exception', 'refund', { reference: debit.reference })
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

  test('that two operators refund at the same time is refunded once', async () => {
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
    const { refund } = await operate('exception', 'refund', { reference })
    await becomes(debit, 'completed')
    await report(debit, { status: 'completed', bank_reference: 'B-1' })
    expect((await operate('exception', 'refund', { reference })).refund.uuid).toBe(refund.uuid)
    expect(bank.refunds.filter((uuid) => uuid === refund.uuid)).toHaveLength(1)
  })
})
