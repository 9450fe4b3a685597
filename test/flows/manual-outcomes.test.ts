import { beforeAll, describe, expect, test, vi } from 'vitest'
import { createPayee, nightAfter, type Payee } from '../support/payee.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { FAILS_AT_ONCE, type Shown, SILENT, useService } from '../support/running-service.ts'

/** Outcomes of debits and payouts that an operator records (docs/api.md#manual-outcomes). */

const service = useService()
const receiver = useReceiver()

let provider: Provider
beforeAll(async () => {
  provider = await createProvider(service, 'manual', { 'daily-limit': '2000.00' })
  await provider.webhook('set', { url: receiver.url() })
})

const show = (reference: string): Promise<Shown> => service.call('debit', 'show', { reference })

const processing = async (amount = '100.00'): Promise<string> => {
  const fields = { phone_number: SILENT, amount }
  return (await service.chargeUntil('processing', fields, provider.credential)).reference
}

const evidence = { 'bank-reference': 'GCB-4711', reason: 'Ama of GCB, by telephone' }

const changeOf = async (target: string): Promise<Shown> =>
  (await service.call('change', 'list', {})).find((change: Shown) => change.target === target)

describe('debit complete', () => {
  test('completes a processing debit as a report of its bank does', async () => {
    const reference = await processing()
    const completed = await service.call('debit', 'complete', { reference, ...evidence })
    expect(completed).toMatchObject({
      status: 'completed',
      bank_reference: 'GCB-4711',
      metadata: { completion_reason: evidence.reason },
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
        completion_reason: { from: null, to: evidence.reason },
      },
    })
  })

  test('requires the reference of the bank and a reason', async () => {
    const reference = await processing()
    expect(await service.refusal('debit', 'complete', { reference })).toBe(
      '--bank-reference: is required, --reason: is required',
    )
    expect(await service.refusal('debit', 'fail', { reference })).toBe(
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
      expect(await service.refusal('debit', verb, { reference, ...evidence })).toMatch(
        /^cannot transition from failed to /,
      )
      const other = await processing()
      await service.call('debit', 'complete', { reference: other, ...evidence })
      expect(await service.refusal('debit', verb, { reference: other, ...evidence })).toMatch(
        /^cannot transition from completed to /,
      )
      expect(await show(reference)).toEqual(before)
      expect(
        await service.refusal('debit', verb, { reference: 'DCS-20261121-ABC123', ...evidence }),
      ).toBe('no such debit')
    },
  )
})

describe('debit fail', () => {
  test('fails a debit with the message of its bank and returns its amount to the daily limit', async () => {
    const reference = await processing('1500.00')
    const reason = 'Insufficient funds'
    const failed = await service.call('debit', 'fail', { reference, ...evidence, reason })
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
    // The daily limit is 2,000.00.
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

  test('records the payout of a batch that is due later, and no run pays it again', async () => {
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
  ])('records the payout of a batch in status %s', async (status, account) => {
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

  test('rejects a batch that no bank can have paid', async () => {
    const { payee, batch } = await batchOf('no-account')
    await service.call('provider', 'update', {
      provider: payee.id,
      'settlement-account': 'none',
    })
    await expect(payee.batch('complete', batch.id, paid)).rejects.toThrow('no settlement account')
    expect(
      await service.refusal('settlement', 'complete', { batch: 'STL-20261122-ABC123', ...paid }),
    ).toMatch('5404')
    expect(await service.refusal('settlement', 'complete', { batch: batch.id })).toBe(
      '--bank-reference: is required, --reason: is required',
    )
  })
})
