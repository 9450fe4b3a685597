import { beforeAll, describe, expect, test, vi } from 'vitest'
import { useHttpBank } from '../support/http-bank.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import {
  type Charged,
  PATIENCE,
  type Shown,
  SILENT,
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

const report = ({ uuid, bank }: Debit, body: object) =>
  service.report(uuid, { bank_reference: 'BANK-77', ...body }, `bt_sandbox_${bank.toLowerCase()}`)

const processing = async (bank_identifier: string, phone_number = SILENT): Promise<Debit> => {
  const fields = { phone_number, bank_identifier, amount: '80.00' }
  const charged = await service.chargeUntil('processing', fields, provider.credential)
  return { ...charged, bank: bank_identifier }
}

const completed = async (bank: string, phone?: string): Promise<Debit> => {
  const debit = await processing(bank, phone)
  expect((await report(debit, { status: 'completed' })).status).toBe(200)
  return debit
}

const reverse = async ({ reference }: Debit): Promise<Shown> =>
  (await service.call('debit', 'reverse', { reference, reason: 'Goods returned' })).refund

const refund = async ({ reference }: Debit, options = {}): Promise<Shown> =>
  (await service.call('exception', 'refund', { reference, ...options })).refund

const refundOf = async ({ reference }: Debit) => (await service.show(reference)).refund

const becomes = (debit: Debit, status: string): Promise<Shown> =>
  vi.waitFor(async () => {
    const found = await refundOf(debit)
    expect(found?.status).toBe(status)
    return found
  }, PATIENCE)

/** Links a customer of GCB whose account number has this ending, and returns the phone number. */
const customer = async (digits: string): Promise<string> => {
  const phone = `+23324777${digits}`
  const account = { phone, bank: 'GCB', name: 'Adwoa Poku', 'account-number': `104100${digits}` }
  await service.call('customer', 'link', account)
  return phone
}

const posts = ({ uuid }: Debit) =>
  bank.requests.filter(({ method, body }) => method === 'POST' && body.debit_uuid === uuid)
const madeOf = ({ uuid }: Shown) => bank.refunds.filter((one) => one === uuid)
const NONE = 'no open exception of this debit allows a refund'

describe('a reversal', () => {
  test('creates one refund that the bank pays immediately and every view includes', async () => {
    const debit = await completed('HTB')
    const pending = await reverse(debit)
    const amount = { amount: '80.00', currency: 'GHS', reason: 'Goods returned' }
    expect(pending).toMatchObject({ status: 'pending', ...amount, bank_reference: null })
    const { uuid, ...done } = await becomes(debit, 'completed')
    expect(uuid).toBe(pending.uuid)
    expect(done).toMatchObject({ bank_reference: `HTB-${uuid.slice(0, 8)}`, failed_at: null })
    const read = await provider.get(statusPath(debit.reference))
    expect(read.body.data.refund).toEqual({ uuid, ...done })
    const [post, ...more] = posts(debit)
    expect([post?.path, post?.headers['x-idempotency-key']]).toEqual(['/debits/refunds', uuid])
    expect(post?.body).toEqual({
      ...{ uuid, debit_uuid: debit.uuid, bank_reference: 'BANK-77', account_number: null },
      ...{ ...amount, timestamp: done.created_at },
    })
    expect((await reverse(debit)).uuid).toBe(uuid)
    expect([more, madeOf({ uuid })]).toEqual([[], [uuid]])
    // The event has the refund in its state at the event.
    const [sent] = await receiver.events(debit.reference, 1)
    expect(sent?.body.data.refund).toEqual({ ...pending, amount: 80 })
  })

  test('of a debit that never completed creates none', async () => {
    const { reference, ...debit } = await processing('GCB')
    expect(await service.refusal('debit', 'reverse', { reference, reason: 'x' })).toBeDefined()
    expect(await refundOf({ reference, ...debit })).toBeNull()
  })
})

describe('a refund that the bank does not make immediately', () => {
  test('is queried before it is sent again when the reply was lost', async () => {
    const debit = await completed('HTB')
    bank.conducts.push('accept, then break off')
    await reverse(debit)
    const { uuid } = await becomes(debit, 'completed')
    expect([madeOf({ uuid }).length, posts(debit).length]).toEqual([1, 1])
    const queries = bank.requests.filter(
      ({ method, path }) => method === 'GET' && path.endsWith(uuid),
    )
    expect(queries).not.toEqual([])
  })

  test('is queried by the sweep until the bank has made it', async () => {
    const debit = await completed('GCB', await customer('9999'))
    await reverse(debit)
    await becomes(debit, 'processing')
    await service.runJob('sweep', {}, 600)
    await becomes(debit, 'completed')
  })
})

describe('a refund that the bank rejects', () => {
  test('is an exception, and its retry has a new uuid', async () => {
    const debit = await completed('HTB')
    const { reference } = debit
    bank.conducts.push('reject')
    await reverse(debit)
    const report = 'The account is closed'
    const failed = await becomes(debit, 'failed')
    expect(failed).toMatchObject({ error_message: report, completed_at: null })
    const by = { reported_by: 'bank:HTB', code: null, resolved_at: null }
    expect(await service.exceptions(reference)).toMatchObject([{ kind: 'refund', report, ...by }])
    const retried = await refund(debit, { reason: 'Account reopened' })
    expect(retried).toMatchObject({ status: 'pending', reason: 'Account reopened' })
    expect(retried.uuid).not.toBe(failed.uuid)
    await becomes(debit, 'completed')
    const note = `refund ${retried.uuid}`
    expect(await service.exceptions(reference)).toMatchObject([{ note }])
    expect(await service.refusal('exception', 'refund', { reference })).toBe(NONE)
  })

  test('is an exception too when the bank has no connector', async () => {
    const debit = await completed('HTB')
    await service.call('connector', 'remove', { bank: 'HTB' })
    await reverse(debit)
    const { error_message } = await becomes(debit, 'failed')
    expect(error_message).toBe('the bank does not support refunds')
    const { name: _, ...connector } = bank.options()
    await service.call('connector', 'set', connector)
    await refund(debit)
    await becomes(debit, 'completed')
  })

  test('is not sent again after a note resolves it', async () => {
    const debit = await completed('GCB', await customer('0000'))
    await reverse(debit)
    await becomes(debit, 'failed')
    const { reference } = debit
    const resolution = { reference, kind: 'refund', note: 'Repaid in cash' }
    await service.call('exception', 'resolve', resolution)
    expect(await service.refusal('exception', 'refund', { reference })).toBe(NONE)
    expect((await refundOf(debit)).status).toBe('failed')
  })
})

test('a late completion that two operators refund concurrently is refunded once', async () => {
  const debit = await processing('HTB')
  const { reference } = debit
  await report(debit, { status: 'failed', error_message: 'Declined' })
  for (const _ of [1, 2]) await report(debit, { status: 'completed' })
  const replies = await Promise.all(
    Array.from({ length: 4 }, () => service.operate('exception', 'refund', { reference })),
  )
  expect(replies.some((reply) => 'result' in reply)).toBe(true)
  const { uuid, reason } = await becomes(debit, 'completed')
  expect(reason).toBe('The bank debited the customer after the debit had failed')
  const exceptions = await service.exceptions(reference)
  expect(exceptions.map(({ resolved_at }) => resolved_at !== null)).toEqual([true, true])
  const read = await provider.get(statusPath(reference))
  expect(read.body.data).toMatchObject({ status: 'failed', refund: { status: 'completed' } })
  // A report after the refund is resolved by the same refund.
  await report(debit, { status: 'completed' })
  expect((await refund(debit)).uuid).toBe(uuid)
  expect(madeOf({ uuid })).toHaveLength(1)
  expect(posts(debit).map(({ body }) => body.uuid)).toEqual([uuid])
})
