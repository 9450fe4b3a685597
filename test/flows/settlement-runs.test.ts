import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { dayAfter, dayOf } from '../../shared/domain/time.ts'
import { createPayee, nightAfter, type Payee } from '../support/payee.ts'
import { createProvider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import {
  CHARGE,
  chargeBody,
  FAILS_AT_ONCE,
  printed,
  type Shown,
  updatePath,
  useService,
} from '../support/running-service.ts'

/** Settlement runs and reversals by an operator. */

const service = useService()
const receiver = useReceiver()

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

const [first, second, third] = [nightAfter(0), nightAfter(1), nightAfter(2)]

const list = async ({ id }: Payee): Promise<Shown[]> =>
  await service.call('settlement', 'list', { provider: id })

describe('settlement run', () => {
  test('settles the debits completed before its day, and nothing twice', async () => {
    const payee = await createPayee(service, 'run-twice')
    const references = await payee.complete('100.00', '50.00', '1.50')
    const ran = await payee.run(first)
    expect(ran).toMatchObject({ date: first, paid: [], unpaid: [], in_work: [] })
    expect(ran.built).toMatchObject([{ status: 'pending', count: 3, gross: '151.50' }])
    await expect(payee.run(first)).rejects.toThrow('No transactions to settle (5002)')
    expect(await list(payee)).toEqual(ran.built)
    const { lines } = await payee.batch('report', ran.built[0].id)
    expect(lines.map(({ reference }: Shown) => reference).sort()).toEqual(references.sort())
  })

  test('settles each debit once when two runs are concurrent', async () => {
    const payee = await createPayee(service, 'run-at-once')
    const references = await payee.complete('1.00', '2.00', '3.00', '4.00')
    await Promise.allSettled([payee.run(first), payee.run(first), payee.run(second)])
    const reports = await Promise.all(
      (await list(payee)).map(({ id }) => payee.batch('report', id)),
    )
    const settled = reports.flatMap(({ lines }) => lines.map(({ reference }: Shown) => reference))
    expect(settled.sort()).toEqual(references.sort())
  })

  test('of the next day pays the batch, and its own batch waits another day', async () => {
    const payee = await createPayee(service, 'paid')
    await payee.complete('100.00')
    const { built: earlier } = await payee.run(first)
    await payee.complete('10.00')
    const { built, paid } = await payee.run(second)
    expect(paid).toEqual([
      {
        ...earlier[0],
        status: 'completed',
        paid: '98.50',
        bank_reference: expect.stringMatching(/^GCB-/),
        processed_at: TIME,
        completed_at: TIME,
      },
    ])
    expect(built).toMatchObject([{ status: 'pending', gross: '10.00', paid: null }])
    expect((await payee.run(third)).paid).toMatchObject([{ id: built[0].id, paid: '9.85' }])
  })

  test('for one provider pays no other provider', async () => {
    const [one, other] = await Promise.all([
      createPayee(service, 'pays-one'),
      createPayee(service, 'pays-other'),
    ])
    await Promise.all([one.complete('1.00'), other.complete('2.00')])
    const [theirs] = (await other.run(first)).built
    await one.run(first)
    expect((await one.run(second)).paid).toMatchObject([{ provider: one.id }])
    expect(await list(other)).toEqual([theirs])
  })

  test('of a day without completed debits builds nothing', async () => {
    const options = { date: '2020-01-01' }
    expect(await service.call('settlement', 'run', options)).toEqual({
      ...options,
      built: [],
      paid: [],
      unpaid: [],
      in_work: [],
    })
    expect(await service.refusal('settlement', 'run', { ...options, provider: 'demo' })).toContain(
      '5002',
    )
  })

  test.each([
    ['run', {}, '--date: is required'],
    ['run', { date: '2026-02-30' }, '--date: must be a day of the calendar'],
    ['run', { date: '2026-13-01' }, '--date: must be a day like'],
    ['run', { date: '20261122' }, '--date: must be a day like'],
    ['run', { date: 'tomorrow' }, '--date: must be a day like'],
    ['run', { date: '2026-11-22T00:00:00Z' }, '--date: must be a day like'],
    ['run', { date: '2020-01-01', provider: 'nobody' }, 'no such provider'],
    ['run', { date: '2020-01-01', bank: 'GCB' }, '--bank: is not an option'],
    ['list', { provider: 'nobody' }, 'no such provider'],
    ['show', { batch: 'STL-20200101-ZZZZZZ' }, 'Settlement batch not found (5404)'],
    ['report', { batch: 'STL-20200101-ZZZZZZ' }, 'Settlement batch not found (5404)'],
    ['report', { batch: 'STL-20200101-ZZZZZZ', format: 'xml' }, '--format: must be one of json'],
    ['process', { batch: 'STL-20200101-ZZZZZZ' }, 'Settlement batch not found (5404)'],
    ['process', { batch: 'DCS-20200101-ZZZZZZ' }, '--batch: must be a batch like'],
    ['retry', { batch: 'STL-20200101-ZZZZZZ' }, 'Settlement batch not found (5404)'],
  ] as const)('settlement %s %o is refused in one line', async (verb, options, line) => {
    expect(await service.refusal('settlement', verb, options)).toContain(line)
  })

  describe('in production', () => {
    beforeAll(() => vi.stubEnv('STAGE', 'production'))
    afterEach(() => vi.unstubAllEnvs())

    test('accepts the current day and rejects future days', async () => {
      const today = dayOf(new Date())
      expect(
        await service.refusal('settlement', 'run', { date: dayAfter(today), provider: 'demo' }),
      ).toContain('--date: must not be in the future')
      expect(
        await service.refusal('settlement', 'run', { date: today, provider: 'demo' }),
      ).toContain('5002')
    })
  })
})

describe('settlement process', () => {
  test('pays a batch once and then gets 5005', async () => {
    const payee = await createPayee(service, 'processed')
    await payee.complete('20.00')
    const [{ id }] = (await payee.run(first)).built
    expect(await payee.batch('process', id)).toMatchObject({ status: 'completed', paid: '19.70' })
    await expect(payee.batch('process', id)).rejects.toThrow('already processed (5005)')
    await expect(payee.batch('retry', id)).rejects.toThrow('already processed (5005)')
    expect(await payee.batch('show', id)).toEqual((await list(payee))[0])
  })

  test('waits for an account and returns the reason', async () => {
    const none = { 'settlement-account': 'none' }
    const payee = await createPayee(service, 'no-account')
    await service.call('provider', 'update', { provider: payee.id, ...none })
    await payee.complete('20.00')
    const [{ id }] = (await payee.run(first)).built
    const { paid, unpaid } = await payee.run(second)
    const details = 'the provider has no settlement account'
    expect(paid).toEqual([])
    expect(unpaid).toMatchObject([{ batch: id, code: 5001, details }])
    await expect(payee.batch('process', id)).rejects.toThrow(details)
    const account = { 'settlement-bank': 'ECO', 'settlement-account': '2441007001' }
    const settings = { ...account, 'settlement-name': 'Payee Ltd' }
    await service.call('provider', 'update', { provider: payee.id, ...settings })
    expect((await payee.run(third)).paid).toMatchObject([
      { id, bank_reference: expect.stringMatching(/^ECO-/) },
    ])
  })
})

describe('settlement retry', () => {
  test('pays a rejected batch under a new uuid', async () => {
    const payee = await createPayee(service, 'retried', { 'settlement-account': '1041000000' })
    await payee.complete('20.00')
    const [{ id, uuid }] = (await payee.run(first)).built
    await expect(payee.batch('retry', id)).rejects.toThrow('only a failed batch')
    expect((await payee.run(second)).paid).toMatchObject([
      { id, status: 'failed', failure: 'The account cannot be paid', failed_at: TIME, uuid },
    ])
    await expect(payee.batch('process', id)).rejects.toThrow('5005')
    await expect(payee.run(third)).rejects.toThrow('5002')
    const account = { 'settlement-bank': 'GCB', 'settlement-account': '1041007002' }
    const settings = { ...account, 'settlement-name': 'Payee Ltd' }
    await service.call('provider', 'update', { provider: payee.id, ...settings })
    const retried = await payee.batch('retry', id)
    expect(retried).toMatchObject({ status: 'completed', failure: null, failed_at: null })
    expect(retried.uuid).not.toBe(uuid)
  })
})

describe('settlement report', () => {
  test('prints a document or an unchanged file', async () => {
    const payee = await createPayee(service, 'reported')
    const [reference = ''] = await payee.complete('20.00')
    const [batch] = (await payee.run(first)).built
    const sums = { gross: '20.00', fee: '0.30', net: '19.70' }
    expect(await payee.batch('report', batch.id)).toEqual({
      batch: { ...batch },
      lines: [
        {
          type: 'debit',
          reference,
          partner_reference: expect.stringMatching(/^order-/),
          bank_reference: expect.stringMatching(/^GCB-/),
          completed_at: TIME,
          currency: 'GHS',
          ...sums,
        },
      ],
      totals: { count: 1, debits: 1, adjustments: '0.00', ...sums },
    })
    const csv = await payee.batch('report', batch.id, { format: 'csv' })
    expect(csv).toMatch(/^type,reference,.*\r\ndebit,.*\r\ntotal,,,,,20\.00,0\.30,19\.70,GHS\r\n$/)
  })
})

describe('debit reverse', () => {
  test('sends the event with the reason, and a repeat returns the same reversal', async () => {
    const payee = await createPayee(service, 'reverses')
    await payee.webhook('set', { url: receiver.url() })
    const [reference = ''] = await payee.complete('20.00')
    const reversed = await payee.reverse(reference, 'Customer disputes it')
    expect(reversed).toMatchObject({
      status: 'reversed',
      metadata: { reversal_reason: 'Customer disputes it' },
      settlement: null,
    })
    const again = await payee.reverse(reference, 'Another reason')
    expect({ ...again, refund: null }).toEqual({ ...reversed, refund: null })
    const [last, ...more] = (await receiver.events(reference, 5)).slice(4)
    expect(more).toEqual([])
    expect(last?.body).toMatchObject({
      event: 'transaction.reversed',
      sequence: 4,
      data: {
        previous_status: 'completed',
        transaction: { status: 'reversed', reference },
        metadata: { reversal_reason: 'Customer disputes it' },
      },
    })
    // A debit that is reversed before its settlement is not settled.
    await expect(payee.run(first)).rejects.toThrow('5002')
    expect(reversed.history).toHaveLength(5)
  })

  test('of a settled debit is deducted once by the next batch', async () => {
    const payee = await createPayee(service, 'takes-back')
    const [reference = ''] = await payee.complete('20.00', '1.00')
    const [{ id }] = (await payee.run(first)).built
    await payee.reverse(reference)
    const { built } = await payee.run(second)
    expect(built).toMatchObject([{ debits: 0, adjustments: '-19.70', net: '-19.70' }])
    expect((await payee.reverse(reference)).settlement).toEqual({
      batch_id: id,
      adjusted_in: built[0].id,
    })
    await expect(payee.batch('process', built[0].id)).rejects.toThrow('the net is negative')
    await payee.complete('100.00')
    const [later] = (await payee.run(third)).built
    expect(later).toMatchObject({ net: '98.50', adjustments: '0.00' })
    // The next payout is reduced by the overpaid amount.
    expect((await payee.run(nightAfter(3))).paid).toMatchObject([{ id: later.id, paid: '78.80' }])
    expect(await payee.batch('show', built[0].id)).toMatchObject({
      status: 'completed',
      made_good_by: later.id,
      paid: null,
    })
  })

  test('of a debit that is not completed is rejected, and a reversed debit stays reversed', async () => {
    const provider = await createProvider(service, 'refused')
    const reverse = (reference: string) =>
      service.operate('debit', 'reverse', { reference, reason: 'Dispute' })
    const refusal = async (reference: string) =>
      ((await reverse(reference)) as { error: string }).error
    await provider.webhook('set', { url: receiver.url() })
    const failed = await provider.charge(FAILS_AT_ONCE)
    await receiver.events(failed, 3)
    expect(await refusal(failed)).toContain('cannot transition from failed to reversed')
    const { body } = await service.send('POST', CHARGE, {
      credential: provider.credential,
      body: chargeBody({ phone_number: '+233244444444' }),
    })
    const { reference, response } = body.data
    expect(await refusal(reference)).toMatch(/cannot transition from (pending|processing) to /)
    const report = (fields: object) =>
      service.send('POST', updatePath(response.uuid), {
        credential: 'bt_sandbox_gcb',
        body: { bank_reference: 'B-1', ...fields },
      })
    expect((await report({ status: 'completed', approval_method: 'ussd' })).status).toBe(200)
    expect(printed(await reverse(reference)).status).toBe('reversed')
    const { status, body: late } = await report({ status: 'failed', error_message: 'No' })
    expect([status, late.error.code]).toEqual([422, 3001])
    expect(await refusal('DCS-20200101-ZZZZZZ')).toContain('no such debit')
  })

  test.each([
    [{}, '--reason: is required'],
    [{ reason: '' }, '--reason: '],
    [{ reason: 'x'.repeat(201) }, '--reason: '],
  ])('with %o is refused in one line', async (options, line) => {
    const reference = 'DCS-20200101-ZZZZZZ'
    const reply = await service.operate('debit', 'reverse', { reference, ...options })
    expect((reply as { error: string }).error).toContain(line)
  })
})
