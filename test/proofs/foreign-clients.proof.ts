import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  anyOptions,
  described,
  everyRow,
  isOfBank,
  lineOf,
  names,
  ofProviders,
  type Row,
  reachable,
} from '../../proofs/foreign-clients/description.ts'
import { generatorNames, startClient } from '../../proofs/foreign-clients/generators.ts'
import {
  completedReport,
  failedReport,
  largeRows,
  order,
  refusalRows,
} from '../../proofs/foreign-clients/rows.ts'
import { eventually } from '../support/eventually.ts'
import { createProvider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { SILENT } from '../support/requests.ts'
import { type Shown, useService } from '../support/running-service.ts'

/** Clients that common generators build from docs/openapi.json make each call and decode each reply. */

type Answer = { status: number; body: Shown; same: boolean }

const answerOf = ({ status, body }: Answer): string =>
  body?.error ? `${status}/${body.error.code}` : String(status)

const START_MS = 240_000

describe.each(generatorNames)('a client of %s', (generator) => {
  // Each has a service, because failed credentials are counted by address and minute.
  const service = useService({ timeScale: 30 })
  const receiver = useReceiver()
  let client: Awaited<ReturnType<typeof startClient>> | undefined
  afterAll(() => client?.stop())

  const advance = async (time: string): Promise<void> => {
    const body = JSON.stringify({ advance: time })
    const url = `${service.sandbox().address}/sandbox/clock`
    const headers = { 'Content-Type': 'application/json' }
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200)
  }

  /** Makes calls of a debit that the bank accepted. */
  const silentDebit = () => service.chargeUntil('processing', { phone_number: SILENT })

  beforeAll(async () => {
    client = await startClient(generator, service.sandbox().address)
    const { call: operate } = service
    const demo = { provider: 'demo' }
    await operate('webhook', 'set', { ...demo, url: receiver.url() })
    await operate('provider', 'update', { ...demo, reversals: 'request' })
    await createProvider(service, 'bare')
    await createProvider(service, 'gone')
    await operate('provider', 'disable', { provider: 'gone' })
    const limited = await createProvider(service, 'limited')
    await operate('bank', 'update', { bank: 'ADB', 'account-lookup': 'on' })
    await operate('bank', 'create', { bank: 'LIM', name: 'Limited' })
    await operate('credential', 'issue', { bank: 'LIM', token: 'bt_sandbox_limited' })
    for (const { operation, path } of described) {
      const name = operation.operationId.replaceAll(
        /[A-Z]/g,
        (letter) => `-${letter.toLowerCase()}`,
      )
      const of = path.startsWith('/api/v1/banks') ? { bank: 'LIM' } : { provider: limited.id }
      await operate('limit', 'set', { ...of, operation: name, 'per-minute': '1' })
    }
    await service.chargeUntil('completed')
    await advance('24h')
  }, START_MS)

  // This client knows one type of a reply, and refuses values that the description does not list.
  const isStrict = generator === 'openapi-python-client'
  const refused = isStrict ? '0' : undefined
  const decoded = new Set<string>()

  const call = async (row: Row) => (await client?.call(lineOf(row))) as Answer

  /** Makes calls and compares their answers, and what the client decoded with what the service sent. */
  const expectRows = async (rows: readonly Row[]): Promise<Answer[]> => {
    const answers: Answer[] = []
    const results: string[] = []
    for (const row of rows) {
      const answer = await call(row)
      const result = `${row[0]} ${answerOf(answer)}`
      answers.push(answer)
      decoded.add(result)
      results.push(`${result}${answer.same ? '' : ' decoded differently'}`)
    }
    expect(results).toEqual(rows.map(([name, , answer]) => `${name} ${answer}`))
    return answers
  }
  test('a client charges, reads, pages, follows events and reads settlements', async () => {
    const { reference } = await service.chargeUntil('completed')
    const twice = order()
    const [charged, replayed, listed, feed] = await expectRows([
      ['charge', twice, '202'],
      ['charge', twice, '202'],
      ['listDebitRequests', { per_page: 1, status: 'completed' }, '200'],
      ['listEvents', { per_page: 3 }, '200'],
      ['getDebitRequest', { reference }, '200'],
      ['listBanks', { page: 1 }, '200'],
      ['getBank', { identifier: 'GCB' }, '200'],
      ['lookupCustomerBanks', { phone_number: '+233241234567' }, '200'],
      ['testWebhook', {}, '200'],
      ['listDebitTransactions', { phone_number: '+233241234567' }, '200'],
    ])
    expect(replayed?.body.data.reference).toBe(charged?.body.data.reference)
    const { next_cursor: cursor } = listed?.body.meta ?? {}
    const [page] = await expectRows([
      ['listDebitRequests', { per_page: 1, status: 'completed', cursor }, '200'],
      ['listEvents', { cursor: feed?.body.meta.next_cursor }, '200'],
    ])
    expect(page?.body.data[0].reference).not.toBe(listed?.body.data[0].reference)
    const [batches] = await expectRows([['listSettlements', {}, '200']])
    const { id, date } = batches?.body.data[0] ?? {}
    await expectRows([
      ['getSettlement', { id }, '200'],
      ['getSettlementReport', { id }, '200'],
      ['getMonthlyStatement', { month: date?.slice(0, 7) }, '200'],
    ])
    if (isStrict) return
    await expectRows([
      ['getSettlementReport', { id, format: 'csv' }, '200'],
      ['getMonthlyStatement', { month: date?.slice(0, 7), format: 'html' }, '200'],
    ])
    const typed = { typed: `order-${randomUUID()}`, credential: 'sk_sandbox_demo' }
    expect(await client?.call(typed)).toMatchObject({
      ...{ refund: null, code: 3404, lists: [expect.any(String), expect.any(String)] },
      statuses: expect.arrayContaining(['completed']),
    })
  })

  test('a client reports outcomes, requests reversals and redelivers events', async () => {
    const updated = await silentDebit()
    const called = await silentDebit()
    const body = completedReport()
    await expectRows([
      ['requestReversal', { reference: updated.reference, body: { reason: 'No' } }, '422/3001'],
      ['updateDebitTransaction', { uuid: updated.uuid, body }, '200'],
      ['debitCallback', { uuid: called.uuid, body: completedReport() }, '200'],
      ['requestReversal', { reference: updated.reference, body: { reason: '' } }, '422/1007'],
      ['requestReversal', { reference: updated.reference, body: { reason: 'Late' } }, '202'],
      ['requestReversal', { reference: called.reference, body: { reason: 'Late' } }, '202'],
    ])
    const { reference } = updated
    await service.call('exception', 'resolve', {
      ...{ reference, kind: 'reversal_request', note: 'Delivered' },
    })
    await service.call('debit', 'reverse', { reference: called.reference, reason: 'Late' })
    const again = { body: { reason: 'Late', kind: 'complaint' } }
    await expectRows([
      ['requestReversal', { ...again, reference }, '409/1409'],
      ['requestReversal', { ...again, reference: called.reference }, '409/3006'],
      ['getDebitRequest', { reference: called.reference }, '200'],
      ['updateDebitTransaction', { uuid: updated.uuid, body: failedReport() }, '422/3001'],
      ['debitCallback', { uuid: updated.uuid, body: failedReport() }, '422/3001'],
    ])
    const [deliveries] = await expectRows([['listDeliveries', { reference }, '200']])
    const id = deliveries?.body.data[0].id
    await expectRows([['redeliverEvent', { id }, '202']])
    const ofDemo = { provider: 'demo', url: receiver.url() }
    await service.call('webhook', 'set', { ...ofDemo, events: 'transaction.reversed' })
    await expectRows([['redeliverEvent', { id }, '403/4403']])
    await service.call('webhook', 'remove', { provider: 'demo' })
    await expectRows([
      ['redeliverEvent', { id }, '404/4404'],
      ['testWebhook', {}, '404/4404'],
    ])
    await service.call('webhook', 'set', ofDemo)
  })

  test('a client decodes the refusals of each operation', async () => {
    await expectRows(refusalRows(refused))
    for (const row of largeRows()) await expectRows([row])
  })

  test('a client decodes the refusals that all operations have', async () => {
    await advance('2m')
    await expectRows([
      ...everyRow(names, '401/1401', 'sk_sandbox_unknown'),
      ...everyRow(ofProviders, '400/1400', 'sk_sandbox_signed', {
        ...{ 'X-Timestamp': 'soon', 'X-Signature': 'f'.repeat(64) },
      }),
    ])
    await advance('2m')
    await expectRows([
      ...everyRow(ofProviders, '403/1403', 'sk_sandbox_gone'),
      ...everyRow(ofProviders, '403/1451', 'sk_sandbox_fenced'),
    ])
  })

  test('a client decodes the refusals above a limit', async () => {
    await advance('2m')
    const rows = described.map(({ operation }): Row => {
      const name = operation.operationId
      const { code } = operation['x-rate-limit']
      const credential = isOfBank(name) ? 'bt_sandbox_limited' : 'sk_sandbox_limited'
      return [name, anyOptions(name), `429/${code}`, credential]
    })
    // A window of the limit can end between two calls.
    for (const row of rows) {
      await eventually(async () => {
        await call(row)
        await expectRows([row])
      })
    }
    const rejected: Row = ['listBanks', {}, '401/1401', 'sk_sandbox_unknown']
    await advance('2m')
    await eventually(async () => {
      for (let n = 0; n <= 30; n += 1) await call(rejected)
      await expectRows(everyRow(names, '429/1453', 'sk_sandbox_unknown'))
    })
    await advance('2m')
  })

  test('a client has decoded each documented answer that calls can cause', () => {
    const values = /^(?:charge 400\/3004|get(?:SettlementReport|MonthlyStatement) 422\/1007)$/
    const expected = reachable.filter((answer) => !(isStrict && values.test(answer)))
    expect([...decoded].filter((answer) => / [1-9]/.test(answer)).sort()).toEqual(expected.sort())
  })
})
