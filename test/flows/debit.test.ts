import { beforeAll, describe, expect, test, vi } from 'vitest'
import { customers } from '../../sandbox/seeds.ts'
import { type Received, useReceiver, verifies } from '../support/receiver.ts'
import {
  CHARGE,
  callbackPath,
  chargeBody,
  SILENT,
  statusPath,
  updatePath,
} from '../support/requests.ts'
import { codeOf, type Reply, useService } from '../support/running-service.ts'

const service = useService({ timeScale: 60 })
const receiver = useReceiver()
let secret = ''

beforeAll(async () => {
  const options = { provider: 'demo', url: receiver.url() }
  secret = (await service.call('webhook', 'set', options)).secret
})

const TIME = expect.stringMatching(/Z$/)
const BANK = { name: 'GCB Bank PLC', identifier: 'GCB', country_code: 'GH' }
const AMA = { name: 'Ama Mensah', phone_number: '+233241234567', account_number: '*********1001' }

const namesOf = (events: Received[]): string =>
  events.map(({ body }) => body.event.replace('transaction.', '')).join(' ')

describe('charge', () => {
  const partner_reference = `whole-${Date.now()}`
  let reply: Reply
  let reference: string
  let uuid: string
  let events: Received[]
  beforeAll(async () => {
    const fields = { partner_reference, metadata: { a: [1] } }
    const body = JSON.stringify(chargeBody(fields)).replace('"100.00"', '100.00')
    const wrapped = `{"debit_request":${body}}`
    reply = await service.send('POST', CHARGE, { credential: 'sk_sandbox_demo', body: wrapped })
    ;({ reference } = reply.body.data)
    ;({ uuid } = reply.body.data.response)
    events = await receiver.events(reference, 4)
  })

  test('a charge gets 202 with a pending debit and its identifiers', () => {
    expect(reply.status).toBe(202)
    const status = 'pending'
    const response = { uuid, status, timestamp: TIME, reference, bank: BANK }
    const request_id = reply.headers.get('x-request-id')
    expect(reply.body).toEqual({
      success: true,
      data: { reference, status, response },
      meta: { timestamp: TIME, request_id, api_version: 'v1' },
    })
    expect(reference).toMatch(/^DCS-[0-9]{8}-[A-Z0-9]{6}$/)
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  test('a charge sends the signed events created, pending, processing and completed', () => {
    expect(namesOf(events)).toBe('created pending processing completed')
    for (const [n, received] of events.entries()) {
      const { headers, raw, body } = received
      const ids = { 'x-svc-event': body.event, 'x-svc-event-id': body.event_id }
      expect(headers).toMatchObject(ids)
      expect(verifies(received, secret)).toBe(true)
      expect(raw).toBe(JSON.stringify(body).replace(/"amount":100,/, '"amount":100.00,'))
      const transaction = { reference, uuid, amount: 100, currency: 'GHS' }
      const previous_status = [null, 'created', 'pending', 'processing'][n]
      const data = { transaction, previous_status, metadata: { a: [1] } }
      expect(body).toMatchObject({ sequence: n, api_version: 'v1', data })
    }
    const [, pending, , completed] = events.map(({ body }) => body.data.transaction)
    const open = { status: 'pending', bank_reference: null, processed_at: null }
    expect(pending).toMatchObject(open)
    const ended = { status: 'completed', bank_reference: expect.any(String) }
    expect(completed).toMatchObject({ ...ended, approval_method: 'ussd', customer: AMA })
  })

  test('a charge creates a debit that the status read shows in both published forms', async () => {
    const { data } = (await service.get(statusPath(reference))).body
    const { processed_at, completed_at, bank_reference } = data
    expect([processed_at, completed_at, bank_reference]).toEqual([TIME, TIME, expect.any(String)])
    const ended = {
      ...{ uuid, status: 'completed', processed_at, completed_at, bank_reference },
      ...{ approval_method: 'ussd', error_message: null, error_details: null },
    }
    expect(data).toEqual({
      ...ended,
      ...{ id: expect.stringMatching(/^dt_[0-9]+$/), reference, partner_reference },
      ...{ amount: '100.00', currency: 'GHS', fee: null, narration: 'Order 1', created_at: TIME },
      ...{ bank: BANK, customer: AMA, metadata: { a: [1] } },
      ...{ refund: null, reversal_request: null, settlement: null },
      response: { ...ended, timestamp: TIME },
    })
  })
})

test.each([
  ['+233241111111', 'created pending processing failed', 'insufficient_funds'],
  ['+233242222222', 'created pending failed', 'timeout'],
  ['+233243333333', 'created pending processing failed', 'transaction_declined'],
  // An inactive and an unknown account.
  ['+233240000001', 'created pending failed', 'invalid_account'],
  ['+233249999999', 'created pending failed', 'invalid_account'],
])('a debit of %s has the events %s and the code %s', async (phone_number, names, code) => {
  const { reference } = await service.charge({ phone_number })
  const arrived = await receiver.events(reference, names.split(' ').length)
  expect(namesOf(arrived)).toBe(names)
  const { error_details, transaction } = arrived.at(-1)?.body.data ?? {}
  const { error_message } = transaction
  expect(error_details).toEqual({ code, message: error_message })
  const failed = { status: 'failed', error_message, completed_at: null }
  const { data } = (await service.get(statusPath(reference))).body
  expect(data.response).toMatchObject(failed)
  const documented = customers.find(({ phone }) => phone === phone_number)?.outcome
  expect(documented ?? `failed: ${code}`).toMatch(`failed: ${code}`)
})

const expire = (reference: string, phase: string, secondsAhead: number) =>
  service.runJob('expire-debit', { reference, phase }, secondsAhead)
const done = { batchItemFailures: [] }

// Five minutes are five seconds here, and ten are ten.
test('an approved debit fails after ten minutes with Bank processing timeout', async () => {
  const { reference, uuid } = await service.chargeUntil('processing', { phone_number: SILENT })
  // An early timer is retried.
  const early = { batchItemFailures: [{ itemIdentifier: 'message-1' }] }
  expect(await expire(reference, 'processing', 0)).toEqual(early)
  const approved = { status: 'approved', bank_reference: 'B-1' }
  const first = await service.report(uuid, approved)
  const customer = { name: 'Abena Osei', phone_number: SILENT, account_number: '1041001005' }
  expect(first.body.data).toMatchObject({
    ...{ id: expect.stringMatching(/^dt_[0-9]+$/), uuid, status: 'processing' },
    ...{ amount: '100.00', currency: 'GHS', fee: null, customer, bank: BANK },
  })
  expect((await service.report(uuid, approved)).body.data).toEqual(first.body.data)
  expect(await expire(reference, 'approval', 6)).toEqual(done)
  expect((await service.show(reference)).status).toBe('processing')
  expect(await expire(reference, 'processing', 10)).toEqual(done)
  const failed = { status: 'failed', error_message: 'Bank processing timeout' }
  expect(await service.show(reference)).toMatchObject(failed)
  expect(await receiver.events(reference, 4)).toHaveLength(4)
})

test('a schedule for a time in the past becomes a message', async () => {
  const { reference, uuid } = await service.chargeUntil('processing', { phone_number: SILENT })
  await service.report(uuid, { status: 'approved', bank_reference: 'B-1' })
  vi.useFakeTimers({ now: Date.now() + 600_000, toFake: ['Date'] })
  await service.runJob('schedule-timeout', { reference })
  const { error_message } = await service.until(reference, 'failed')
  vi.useRealTimers()
  expect(error_message).toBe('Bank processing timeout')
})

describe.each([
  ['update-debit-transaction', updatePath],
  ['debit-callback', callbackPath],
])('the operation %s', (name, path) => {
  test('a report completes a debit once, gets 200 with the published fields and sends the webhook', async () => {
    const { reference, uuid } = await service.chargeUntil('processing', { phone_number: SILENT })
    const send = (body: object) =>
      service.send('POST', path(uuid), { credential: 'bt_sandbox_gcb', body })
    const body = {
      ...{ status: 'completed', bank_reference: 'BANK-1', approval_method: 'mobile_api' },
      ...{ fee: '1.50', metadata: { branch: 'Accra' } },
    }
    const first = await send(body)
    const shown = { ...{ uuid, reference, status: 'completed' }, bank_reference: 'BANK-1' }
    const method = { approval_method: 'mobile_api', fee: '1.50' }
    expect(first.body.data).toMatchObject({ ...shown, ...method, error_message: null })
    if (name === 'update-debit-transaction') {
      const fields = ['id', 'uuid', 'reference', 'status', 'approval_method', 'bank_reference']
      const members = [...fields, 'error_message', 'fee', 'updated_at']
      expect(Object.keys(first.body.data)).toEqual(members)
    }
    const again = await send({ ...body, bank_reference: 'BANK-2', fee: '9.00' })
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body.data).toEqual(first.body.data)
    const late = await send({ ...body, status: 'failed', error_message: 'No' })
    expect(codeOf(late)).toBe('422/3001')
    const arrived = await receiver.events(reference, 4)
    expect(arrived).toHaveLength(4)
    expect(arrived[3]?.raw).toContain('"fee":1.50')
    expect(arrived[3]?.body.data).toMatchObject({
      transaction: { approval_method: 'mobile_app', bank_reference: 'BANK-1' },
      metadata: { branch: 'Accra' },
    })
  })
})
