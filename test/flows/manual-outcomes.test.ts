import { beforeAll, describe, expect, test, vi } from 'vitest'
import { createPayee, nightAfter, type Payee } from '../support/payee.ts'
import {
  createProvider,
  FAILS_AT_ONCE,
  type Provider,
  printed,
  type Shown,
} from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { CHARGE, chargeBody, useService } from '../support/running-service.ts'

/** What a bank told an operator, and not the service: outcomes of debits, and payouts. */

const service = useService()
const receiver = useReceiver()

const operate = async (noun: string, verb: string, options: Record<string, string>) =>
  printed(await service.operate(noun, verb, options))

/** Why a verb is refused. */
const refused = async (noun: string, verb: string, options: Record<string, string>) => {
  const reply = await service.operate(noun, verb, options)
  return 'error' in reply ? reply.error : undefined
}

let provider: Provider
beforeAll(async () => {
  provider = await createProvider(service, 'manual', { 'daily-limit': '2000.00' })
  await provider.webhook('set', { url: receiver.url() })
})

const show = (reference: string): Promise<Shown> => operate('debit', 'show', { reference })

/** A debit that its bank accepted, and then is silent. */
const processing = async (amount = '100.00'): Promise<string> => {
  const body = chargeBody({ phone_number: '+233244444444', amount })
  const reply = await service.send('POST', CHARGE, { credential: provider.credential, body })
  const { reference } = reply.body.data
  await vi.waitFor(async () => expect((await show(reference)).status).toBe('processing'), 15_000)
  return reference
}

const told = { 'bank-reference': 'GCB-4711', reason: 'Ama of GCB, by telephone' }

const changeOf = async (target: string): Promise<Shown> =>
  (await operate('change', 'list', {})).find((one: Shown) => one.target === target)

describe('debit complete', () => {
  test('completes a processing debit as a report of its bank would', async () => {
    const reference = await processing()
    const completed = await operate('debit', 'complete', { reference, ...told })
    expect(completed).toMatchObject({
      status: 'completed',
      bank_reference: 'GCB-4711',
      metadata: { completion_reason: told.reason },
    })
    expect(completed.history.at(-1)).toMatchObject({
      event: 'transaction.completed',
      by: expect.stringMatching(/^operator:/),
    })
    const events = await receiver.events(reference, 4)
    expect(events.at(-1)?.body).toMatchObject({
      event: 'transaction.completed',
      data: { transaction: { status: 'completed', bank_reference: 'GCB-4711' } },
    })
    expect(await changeOf(reference)).toMatchObject({
      noun: 'debit',
      verb: 'complete',
      changed: {
        status: { from: 'processing', to: 'completed' },
        bank_reference: { from: null, to: 'GCB-4711' },
        completion_reason: { from: null, to: told.reason },
      },
    })
  })

  test('needs the reference of the bank and a reason', async () => {
    const reference = await processing()
    expect(await refused('debit', 'complete', { reference })).toBe(
      '--bank-reference: is required, --reason: is required',
    )
    expect(await refused('debit', 'fail', { reference })).toBe(
      '--bank-reference: is required, --reason: is required',
    )
    expect((await show(reference)).status).toBe('processing')
  })

  test.each(['complete', 'fail'])(
    '%s takes no debit that has its outcome, and no unknown one',
    async (verb) => {
      const reference = await provider.charge(FAILS_AT_ONCE)
      await vi.waitFor(async () => expect((await show(reference)).status).toBe('failed'), 15_000)
      const before = await show(reference)
      expect(await refused('debit', verb, { reference, ...told })).toMatch(
        /^cannot transition from failed to /,
      )
      const other = await processing()
      await operate('debit', 'complete', { reference: other, ...told })
      expect(await refused('debit', verb, { reference: other, ...told })).toMatch(
        /^cannot transition from completed to /,
      )
      expect(await show(reference)).toEqual(before)
      expect(await refused('debit', verb, { reference: 'DCS-20261121-ABC123', ...told })).toBe(
        'no such debit',
      )
    },
  )
})

describe('debit fail', () => {
  test('fails a debit with the words of its bank, and gives its amount back to the day', async () => {
    const reference = await processing('1500.00')
    const reason = 'Insufficient funds'
    const failed = await operate('debit', 'fail', { reference, ...told, reason })
    expect(failed).toMatchObject({
      status: 'failed',
      bank_reference: 'GCB-4711',
      error_message: reason,
      error_code: 'insufficient_funds',
    })
    const events = await receiver.events(reference, 4)
    expect(events.at(-1)?.body).toMatchObject({
      event: 'transaction.failed',
      data: { error_details: { message: reason, code: 'insufficient_funds' } },
    })
    // Of the daily limit of 2,000.00.
    expect(await processing('1500.00')).toMatch(/^DCS-/)
    expect(await changeOf(reference)).toMatchObject({
      verb: 'fail',
      changed: { status: { from: 'processing', to: 'failed' } },
    })
  })
})

describe('settlement complete', () => {
  const paid = { 'bank-reference': 'GCB-PAID-1', reason: 'On the statement of GCB' }

  const batchOf = async (id: string, settings = {}): Promise<{ payee: Payee; batch: Shown }> => {
    const payee = await createPayee(service, id, settings)
    await payee.complete('100.00')
    return { payee, batch: (await payee.run(nightAfter(0))).built[0] }
  }

  const settledEvent = ({ payee, batch }: { payee: Payee; batch: Shown }) =>
    vi.waitFor(async () => {
      const { body } = await payee.send('GET', '/api/v1/payment-providers/events?per_page=100')
      const found = body.data.find((one: Shown) => one.data.settlement?.id === batch.id)
      expect(found?.event).toBe('settlement.completed')
    }, 15_000)

  test('records the payout of a batch that is due later; no run pays it again', async () => {
    const one = await batchOf('paid-by-hand')
    const { payee, batch } = one
    expect(await payee.batch('complete', batch.id, paid)).toMatchObject({
      status: 'completed',
      paid: batch.net,
      bank_reference: 'GCB-PAID-1',
    })
    await settledEvent(one)
    await expect(payee.run(nightAfter(1))).rejects.toThrow('5002')
    await expect(payee.batch('complete', batch.id, paid)).rejects.toThrow('5005')
    expect(await changeOf(batch.id)).toMatchObject({
      noun: 'settlement',
      verb: 'complete',
      changed: {
        status: { from: 'pending', to: 'completed' },
        bank_reference: { from: null, to: 'GCB-PAID-1' },
        reason: { from: null, to: paid.reason },
      },
    })
  })

  test.each([
    ['failed', '1041000000'],
    ['processing', '1041009999'],
  ])('records the payout of a batch that is %s here', async (status, account) => {
    const one = await batchOf(`was-${status}`, { 'settlement-account': account })
    const { payee, batch } = one
    expect(await payee.batch('process', batch.id)).toMatchObject({ status })
    expect(await payee.batch('complete', batch.id, paid)).toMatchObject({
      status: 'completed',
      paid: batch.net,
      failure: null,
      bank_reference: 'GCB-PAID-1',
    })
    await settledEvent(one)
  })

  test('takes no batch that no bank can have paid', async () => {
    const { payee, batch } = await batchOf('no-account')
    await operate('provider', 'update', {
      provider: payee.id,
      'settlement-account': 'none',
    })
    await expect(payee.batch('complete', batch.id, paid)).rejects.toThrow('no settlement account')
    expect(
      await refused('settlement', 'complete', { batch: 'STL-20261122-ABC123', ...paid }),
    ).toMatch('5404')
    expect(await refused('settlement', 'complete', { batch: batch.id })).toBe(
      '--bank-reference: is required, --reason: is required',
    )
  })
})
