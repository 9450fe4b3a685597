import { afterEach, describe, expect, test, vi } from 'vitest'
import { dayAfter, dayOf } from '../../shared/domain/time.ts'
import { createPayee, nightAfter, type Payee } from '../support/payee.ts'
import { createProvider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import {
  codeOf,
  FAILS_AT_ONCE,
  type Shown,
  SILENT,
  useService,
} from '../support/running-service.ts'

/** Settlement runs, reversals and outcomes of debits by an operator. */

const service = useService()
const receiver = useReceiver()
afterEach(() => vi.unstubAllEnvs())

const [first, second, third] = [nightAfter(0), nightAfter(1), nightAfter(2)]
const UNKNOWN = 'DCS-20200101-ZZZZZZ'

const list = async ({ id }: Payee): Promise<Shown[]> =>
  await service.call('settlement', 'list', { provider: id })

describe('settlement run', () => {
  test('settles the debits completed before its day, and nothing twice', async () => {
    const payee = await createPayee(service, 'run-twice')
    const references = await payee.complete('100.00', '50.00', '1.50')
    const result = await payee.run(first)
    expect(result).toMatchObject({ date: first, paid: [], unpaid: [], in_work: [] })
    expect(result.built).toMatchObject([{ status: 'pending', count: 3, gross: '151.50' }])
    await expect(payee.run(first)).rejects.toThrow('No transactions to settle (5002)')
    expect(await list(payee)).toEqual(result.built)
    const { lines } = await payee.batch('report', result.built[0].id)
    expect(lines.map(({ reference }: Shown) => reference).sort()).toEqual(references.sort())
    const csv = await payee.batch('report', result.built[0].id, { format: 'csv' })
    expect(csv).toMatch(/^type,reference,.*\r\n(?:debit,.*\r\n){3}total,,,,,151\.50,.*,GHS\r\n$/)
  })

  test('settles each debit once when two runs are concurrent', async () => {
    const payee = await createPayee(service, 'run-at-once')
    const references = await payee.complete('1.00', '2.00', '3.00', '4.00')
    await Promise.allSettled([payee.run(first), payee.run(first), payee.run(second)])
    const batches = await list(payee)
    const reports = await Promise.all(batches.map(({ id }) => payee.batch('report', id)))
    const settled = reports.flatMap(({ lines }) => lines.map(({ reference }: Shown) => reference))
    expect(settled.sort()).toEqual(references.sort())
  })

  test('of the next day pays the batch, of one provider alone, and its own batch waits', async () => {
    const [payee, other] = [
      await createPayee(service, 'paid'),
      await createPayee(service, 'unpaid'),
    ]
    await payee.complete('100.00')
    await other.complete('2.00')
    const [theirs] = (await other.run(first)).built
    const [earlier] = (await payee.run(first)).built
    await payee.complete('10.00')
    const { built, paid } = await payee.run(second)
    const TIME = expect.stringMatching(/Z$/)
    const done = { status: 'completed', paid: '98.50', processed_at: TIME, completed_at: TIME }
    const bank_reference = expect.stringMatching(/^GCB-/)
    expect(paid).toEqual([{ ...earlier, ...done, bank_reference }])
    expect(built).toMatchObject([{ status: 'pending', gross: '10.00', paid: null }])
    expect(await list(other)).toEqual([theirs])
    expect((await payee.run(third)).paid).toMatchObject([{ id: built[0].id, paid: '9.85' }])
  })

  test('of a day without completed debits builds nothing', async () => {
    const date = '2020-01-01'
    const nothing = { date, built: [], paid: [], unpaid: [], in_work: [] }
    expect(await service.call('settlement', 'run', { date })).toEqual(nothing)
    const demo = { date, provider: 'demo' }
    expect(await service.refusal('settlement', 'run', demo)).toContain('5002')
  })

  test('in production accepts the current day and rejects future days', async () => {
    vi.stubEnv('STAGE', 'production')
    const today = dayOf(new Date())
    const run = (date: string) => service.refusal('settlement', 'run', { date, provider: 'demo' })
    expect(await run(dayAfter(today))).toContain('--date: must not be in the future')
    expect(await run(today)).toContain('5002')
  })
})

describe('debit reverse', () => {
  test('sends the event with the reason, and a repeat returns the same reversal', async () => {
    const payee = await createPayee(service, 'reverses')
    await payee.webhook('set', { url: receiver.url() })
    const [reference = ''] = await payee.complete('20.00')
    const metadata = { reversal_reason: 'Customer disputes it' }
    const reversed = await payee.reverse(reference, metadata.reversal_reason)
    expect(reversed).toMatchObject({ status: 'reversed', metadata, settlement: null })
    const again = await payee.reverse(reference, 'Another reason')
    expect({ ...again, refund: null }).toEqual({ ...reversed, refund: null })
    const [last, ...more] = (await receiver.events(reference, 5)).slice(4)
    expect(more).toEqual([])
    const transaction = { status: 'reversed', reference }
    const data = { previous_status: 'completed', transaction, metadata }
    expect(last?.body).toMatchObject({ event: 'transaction.reversed', sequence: 4, data })
    // A debit that is reversed before its settlement is not settled.
    await expect(payee.run(first)).rejects.toThrow('5002')
    const listed = await service.call('debit', 'list', { provider: payee.id, status: 'reversed' })
    expect(listed).toMatchObject([{ reference, status: 'reversed' }])
    expect(listed[0].phone_number).not.toContain(SILENT.slice(4))
  })

  test('of a settled debit is deducted once by the next batch', async () => {
    const payee = await createPayee(service, 'takes-back')
    const [reference = ''] = await payee.complete('20.00', '1.00')
    const [{ id }] = (await payee.run(first)).built
    await payee.reverse(reference)
    const { built } = await payee.run(second)
    expect(built).toMatchObject([{ debits: 0, adjustments: '-19.70', net: '-19.70' }])
    const settlement = { batch_id: id, adjusted_in: built[0].id }
    expect((await payee.reverse(reference)).settlement).toEqual(settlement)
    await expect(payee.batch('process', built[0].id)).rejects.toThrow('the net is negative')
    await payee.complete('100.00')
    const [later] = (await payee.run(third)).built
    expect(later).toMatchObject({ net: '98.50', adjustments: '0.00' })
    // The next payout is reduced by the overpaid amount.
    await service.runJob('process-batch', { batch: later.id })
    const paid = { status: 'completed', paid: '78.80' }
    expect(await payee.batch('show', later.id)).toMatchObject(paid)
    const offset = { status: 'completed', made_good_by: later.id, paid: null }
    expect(await payee.batch('show', built[0].id)).toMatchObject(offset)
  })

  test('of a debit that is not completed is rejected, and a reversed debit stays reversed', async () => {
    const reverse = (reference: string) =>
      service.refusal('debit', 'reverse', { reference, reason: 'Dispute' })
    const failed = await service.chargeUntil('failed', { phone_number: FAILS_AT_ONCE })
    const line = (from: string) => `cannot transition from ${from} to reversed`
    expect(await reverse(failed.reference)).toContain(line('failed'))
    const { reference, uuid } = await service.chargeUntil('processing', { phone_number: SILENT })
    expect(await reverse(reference)).toContain(line('processing'))
    const report = { bank_reference: 'B-1', error_message: 'No' }
    await service.report(uuid, { ...report, status: 'completed' })
    expect(await reverse(reference)).toBeUndefined()
    expect(codeOf(await service.report(uuid, { ...report, status: 'failed' }))).toBe('422/3001')
    expect(await reverse(UNKNOWN)).toContain('no such debit')
  })
})

describe('a debit outcome by an operator (docs/api.md#manual-outcomes)', () => {
  const evidence = { 'bank-reference': 'GCB-4711', reason: 'Insufficient funds' }
  const bank_reference = 'GCB-4711'

  test.each([
    ['complete', 'completed', { metadata: { completion_reason: evidence.reason } }],
    ['fail', 'failed', { error_message: evidence.reason, error_code: 'insufficient_funds' }],
  ])('debit %s ends a processing debit as a report of its bank does', async (verb, to, shown) => {
    const provider = await createProvider(service, to, { 'daily-limit': '150.00' })
    await provider.webhook('set', { url: receiver.url() })
    const charge = () =>
      service.chargeUntil('processing', { phone_number: SILENT }, provider.credential)
    const { reference } = await charge()
    const line = '--bank-reference: is required, --reason: is required'
    expect(await service.refusal('debit', verb, { reference })).toBe(line)
    const ended = await service.call('debit', verb, { reference, ...evidence })
    expect(ended).toMatchObject({ status: to, bank_reference, ...shown })
    const by = expect.stringMatching(/^operator:/)
    expect(ended.history.at(-1)).toMatchObject({ event: `transaction.${to}`, by })
    const { body } = (await receiver.events(reference, 4))[3] ?? {}
    const transaction = { status: to, bank_reference }
    expect(body).toMatchObject({ event: `transaction.${to}`, data: { transaction } })
    expect(await service.changeOf(reference)).toMatchObject({
      ...{ noun: 'debit', verb },
      changed: {
        status: { from: 'processing', to },
        bank_reference: { from: null, to: bank_reference },
      },
    })
    for (const other of ['complete', 'fail']) {
      const refused = await service.refusal('debit', other, { reference, ...evidence })
      expect(refused).toMatch(new RegExp(`^cannot transition from ${to} to `))
    }
    expect(await service.show(reference)).toEqual(ended)
    const unknown = { reference: UNKNOWN, ...evidence }
    expect(await service.refusal('debit', verb, unknown)).toBe('no such debit')
    // A failed debit returns its amount to the daily limit.
    if (to === 'failed') await charge()
    else await expect(charge()).rejects.toThrow('400')
  })
})
