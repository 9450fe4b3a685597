import { beforeAll, describe, expect, test } from 'vitest'
import { invariants } from '../../shared/reconciliation/invariants.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import { SILENT, updatePath, useService } from '../support/running-service.ts'

/** Reconciliation and exceptions, as an operator runs and lists them. */

const service = useService()

const GCB = 'bt_sandbox_gcb'

const charge = () => service.charge({ phone_number: SILENT })

const report = (uuid: string, body: object) =>
  service.send('POST', updatePath(uuid), { credential: GCB, body })

let provider: Provider
beforeAll(async () => {
  provider = await createProvider(service, 'books')
})

describe('the operator', () => {
  test('reconciles a day of ended debits and finds no difference', async () => {
    const done = await charge()
    await report(done.uuid, {
      status: 'completed',
      bank_reference: 'B-1',
      approval_method: 'ussd',
      fee: 1.5,
    })
    const declined = await charge()
    await report(declined.uuid, {
      status: 'failed',
      bank_reference: 'B-2',
      error_message: 'Insufficient funds',
    })
    const reversed = await charge()
    await report(reversed.uuid, { status: 'completed', bank_reference: 'B-3' })
    const { reference } = reversed
    await service.call('debit', 'reverse', { reference, reason: 'Dispute' })
    await charge()
    await provider.charge()
    // The day of the charges, also around midnight.
    const date = reference.replace(/^DCS-(....)(..)(..)-.*$/, '$1-$2-$3')
    const document = await service.call('reconciliation', 'run', { date })
    expect(document).toMatchObject({
      date,
      checked_at: expect.stringMatching(/Z$/),
      differences: 0,
      completed_debits: {
        completed: '200.00',
        settled: '0.00',
        unsettled: '100.00',
        reversed: '100.00',
      },
    })
    expect(document.invariants).toHaveLength(Object.keys(invariants).length)
    expect(document.invariants[0]).toEqual({
      number: 1,
      title: 'An accepted charge exists unchanged',
      checked: 5,
      differences: 0,
      examples: [],
    })
  })

  const requestIdOf = ({ body }: { body: { meta: { request_id: string } } }) => body.meta.request_id

  test('lists completions of failed debits as exceptions, newest first', async () => {
    const { reference, uuid } = await charge()
    const failure = { status: 'failed', bank_reference: 'B-4', error_message: 'Declined' }
    await report(uuid, failure)
    const completion = { status: 'completed', bank_reference: 'B-5', approval_method: 'ussd' }
    const first = await report(uuid, { ...completion, fee: 0.5 })
    const second = await report(uuid, { ...completion, bank_reference: 'B-6' })
    const late = await service.call('exception', 'list', {})
    const alike = {
      reference,
      provider: 'demo',
      bank: 'GCB',
      kind: 'late_completion',
      amount: '100.00',
      at: expect.stringMatching(/Z$/),
      debit_status: 'failed',
      code: 3001,
      details: { status: ['cannot transition from failed to completed'] },
      reported_by: 'bank:GCB',
      resolved_at: null,
      resolved_by: null,
      note: null,
    }
    const sent = (fields: object) => JSON.stringify({ ...completion, ...fields })
    expect(late).toEqual([
      { ...alike, report: sent({ bank_reference: 'B-6' }), request_id: requestIdOf(second) },
      { ...alike, report: sent({ fee: 0.5 }), request_id: requestIdOf(first) },
    ])
    expect(await service.call('exception', 'list', { limit: '1' })).toHaveLength(1)
  })

  test.each([
    ['reconciliation', 'run', {}, '--date: is required'],
    ['reconciliation', 'run', { date: '2026-02-30' }, '--date: '],
    ['reconciliation', 'run', { date: 'yesterday' }, '--date: '],
    ['exception', 'list', { limit: '0' }, '--limit: '],
  ] as const)('%s %s %o is refused in one line', async (noun, verb, options, line) => {
    const reply = await service.operate(noun, verb, options)
    expect((reply as { error: string }).error).toContain(line)
  })
})
