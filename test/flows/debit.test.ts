import { createHmac } from 'node:crypto'
import { QueryCommand } from '@aws-sdk/lib-dynamodb'
import { Webhook } from 'standardwebhooks'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { table, tableName } from '../../shared/store/table.ts'
import { type Received, useReceiver } from '../support/receiver.ts'
import {
  CHARGE,
  chargeBody,
  type Reply,
  statusPath,
  updatePath,
  useService,
} from '../support/running-service.ts'

const service = useService({ timeScale: 60 })
const receiver = useReceiver()
let secret = ''

beforeAll(async () => {
  const options = { provider: 'demo', url: receiver.url() }
  secret = (await service.call('webhook', 'set', options)).secret
})

const demo = 'sk_sandbox_demo'

const charge = (fields: Record<string, unknown> = {}): Promise<Reply> =>
  service.send('POST', CHARGE, { credential: demo, body: chargeBody(fields) })

const status = (reference: string): Promise<Reply> =>
  service.send('GET', statusPath(reference), { credential: demo })

const itemsOf = async (reference: string, prefix: string) => {
  const { Items } = await table.send(
    new QueryCommand({
      TableName: tableName(),
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': `DEBIT#${reference}`, ':prefix': prefix },
    }),
  )
  return Items
}

const names = (events: Received[]): string[] => events.map(({ body }) => body.event)

describe('charge', () => {
  test('replies 202 with a pending debit and its identifiers', async () => {
    const { status, body, headers } = await charge({ amount: '100.00' })
    expect(status).toBe(202)
    expect(body).toEqual({
      success: true,
      data: {
        reference: expect.stringMatching(/^DCS-[0-9]{8}-[A-Z0-9]{6}$/),
        status: 'pending',
        response: {
          uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
          status: 'pending',
          timestamp: expect.stringMatching(/Z$/),
          reference: body.data.reference,
          bank: { name: 'GCB Bank PLC', identifier: 'GCB', country_code: 'GH' },
        },
      },
      meta: {
        timestamp: expect.stringMatching(/Z$/),
        request_id: headers.get('x-request-id'),
        api_version: 'v1',
      },
    })
  })

  test('sends the signed events created, pending, processing and completed', async () => {
    const { body } = await charge({ metadata: { order: 7 } })
    const { reference, response } = body.data
    const events = await receiver.events(reference, 4)
    expect(names(events)).toEqual([
      'transaction.created',
      'transaction.pending',
      'transaction.processing',
      'transaction.completed',
    ])
    for (const [n, { headers, raw, body }] of events.entries()) {
      expect(headers['x-svc-signature']).toBe(
        createHmac('sha256', secret).update(raw).digest('hex'),
      )
      expect(new Webhook(secret).verify(raw, headers as Record<string, string>)).toEqual(body)
      expect(headers['x-svc-event']).toBe(body.event)
      expect(headers['x-svc-event-id']).toBe(body.event_id)
      expect(raw).toBe(JSON.stringify(body).replace(/"amount":100,/, '"amount":100.00,'))
      expect(body).toMatchObject({
        sequence: n,
        api_version: 'v1',
        data: {
          transaction: { reference, uuid: response.uuid, amount: 100, currency: 'GHS' },
          previous_status: [null, 'created', 'pending', 'processing'][n],
          metadata: { order: 7 },
        },
      })
    }
    expect(events[1]?.body.data.transaction).toMatchObject({
      status: 'pending',
      bank_reference: null,
      processed_at: null,
    })
    expect(events[3]?.body.data.transaction).toMatchObject({
      status: 'completed',
      bank_reference: expect.any(String),
      approval_method: 'ussd',
      customer: {
        name: 'Ama Mensah',
        phone_number: '+233241234567',
        account_number: '1041001001',
      },
    })
  })

  test('creates a debit that the status read shows in both published forms', async () => {
    const partner_reference = `whole-${Date.now()}`
    const { body } = await charge({ amount: '250.00', partner_reference, metadata: { a: [1] } })
    const { reference, response } = body.data
    await receiver.events(reference, 4)
    const read = await status(reference)
    expect(read.status).toBe(200)
    const { processed_at, completed_at, bank_reference } = read.body.data
    const ended = {
      uuid: response.uuid,
      status: 'completed',
      processed_at: expect.any(String),
      completed_at: expect.any(String),
      bank_reference: expect.any(String),
      approval_method: 'ussd',
      error_message: null,
      error_details: null,
    }
    expect(read.body.data).toEqual({
      ...ended,
      id: expect.stringMatching(/^dt_[0-9]+$/),
      reference,
      partner_reference,
      amount: '250.00',
      currency: 'GHS',
      fee: null,
      narration: 'Order 1',
      created_at: expect.any(String),
      bank: { name: 'GCB Bank PLC', identifier: 'GCB', country_code: 'GH' },
      customer: {
        name: 'Ama Mensah',
        phone_number: '+233241234567',
        account_number: '1041001001',
      },
      metadata: { a: [1] },
      refund: null,
      settlement: null,
      response: {
        ...ended,
        timestamp: expect.any(String),
        processed_at,
        completed_at,
        bank_reference,
      },
    })
  })

  test('accepts a body inside debit_request with the amount as a number', async () => {
    const fields = JSON.stringify(chargeBody()).replace('"100.00"', '100.00')
    const { status } = await service.send('POST', CHARGE, {
      credential: demo,
      body: `{"debit_request":${fields}}`,
    })
    expect(status).toBe(202)
  })
})

describe('the other published numbers', () => {
  const outcomes = [
    ['+233241111111', 'created pending processing failed', 'insufficient_funds'],
    ['+233242222222', 'created pending failed', 'timeout'],
    ['+233243333333', 'created pending processing failed', 'transaction_declined'],
  ] as const

  test.each(outcomes)('%s: %s, %s', async (phone_number, events, code) => {
    const { body } = await charge({ phone_number })
    const wanted = events.split(' ').map((event) => `transaction.${event}`)
    const arrived = await receiver.events(body.data.reference, wanted.length)
    expect(names(arrived)).toEqual(wanted)
    const last = arrived.at(-1)?.body.data
    expect(last.error_details).toEqual({ code, message: last.transaction.error_message })
    const read = await status(body.data.reference)
    expect(read.body.data.response).toMatchObject({
      status: 'failed',
      error_message: last.transaction.error_message,
      completed_at: null,
    })
  })

  test('a debit of an inactive or unknown account fails without processing', async () => {
    for (const phone_number of ['+233240000001', '+233249999999']) {
      const { body } = await charge({ phone_number })
      const arrived = await receiver.events(body.data.reference, 3)
      expect(names(arrived).at(-1)).toBe('transaction.failed')
      expect(arrived.at(-1)?.body.data).toMatchObject({
        previous_status: 'pending',
        error_details: { code: 'invalid_account' },
      })
    }
  })
})

describe('timeouts', () => {
  test('a debit without an approval fails with Transaction timeout', async () => {
    const { body } = await charge({ phone_number: '+233244444444' })
    const { reference } = body.data
    await receiver.events(reference, 3)
    await vi.waitFor(() => expect(service.sandbox().schedules()).not.toEqual([]), 5_000)
    const arrived = await receiver.events(reference, 4)
    expect(arrived.at(-1)?.body.data).toMatchObject({
      previous_status: 'processing',
      transaction: { status: 'failed', error_message: 'Transaction timeout' },
      error_details: { code: 'timeout' },
    })
    const [processing, failed] = arrived.slice(-2).map(({ body }) => new Date(body.timestamp))
    expect(Number(failed) - Number(processing)).toBeGreaterThanOrEqual(300_000 / 60)
  })
})

describe('update-debit-transaction', () => {
  const report = (uuid: string, body: object, credential = 'bt_sandbox_gcb') =>
    service.send('POST', updatePath(uuid), { credential, body })

  const silent = { phone_number: '+233244444444' }

  test('completes a debit once, replies 200 with the published fields and sends the webhook', async () => {
    const { reference, response } = (await charge(silent)).body.data
    await receiver.events(reference, 3)
    const body = {
      status: 'completed',
      bank_reference: 'BANK-1',
      approval_method: 'mobile_api',
      fee: '1.50',
      metadata: { branch: 'Accra' },
    }
    const first = await report(response.uuid, body)
    expect(first.status).toBe(200)
    expect(first.body.data).toEqual({
      id: expect.any(Number),
      uuid: response.uuid,
      reference,
      status: 'completed',
      approval_method: 'mobile_api',
      bank_reference: 'BANK-1',
      error_message: null,
      fee: '1.50',
      updated_at: expect.any(String),
    })
    const again = await report(response.uuid, { ...body, bank_reference: 'BANK-2', fee: '9.00' })
    expect(again.status).toBe(200)
    expect(again.body.data).toEqual(first.body.data)
    const arrived = await receiver.events(reference, 4)
    expect(arrived[3]?.raw).toContain('"fee":1.50')
    expect(arrived[3]?.body.data).toMatchObject({
      transaction: { approval_method: 'mobile_app', bank_reference: 'BANK-1' },
      metadata: { branch: 'Accra' },
    })
    expect(arrived).toHaveLength(4)
  })

  test('rejects completed after failed with 422/3001 and keeps the report', async () => {
    const { reference, response } = (await charge(silent)).body.data
    const failed = await report(response.uuid, {
      status: 'failed',
      bank_reference: 'BANK-3',
      error_message: 'Insufficient funds',
    })
    expect(failed.body.data).toMatchObject({
      status: 'failed',
      error_message: 'Insufficient funds',
    })
    const late = await report(response.uuid, { status: 'completed', bank_reference: 'BANK-LATE' })
    const kept = await itemsOf(reference, 'EXCEPTION#')
    expect(kept).toMatchObject([{ kind: 'late_completion', bank: 'GCB', amount: 100_00 }])
    expect(late.status).toBe(422)
    expect(late.body).toMatchObject({
      success: false,
      error: { code: 3001, category: 'transactions' },
      details: { status: ['cannot transition from failed to completed'] },
    })
  })

  test('behaves the same as a callback', async () => {
    const { reference, response } = (await charge(silent)).body.data
    const call = (body: object) =>
      service.send('POST', `/api/v1/banks/debit-transactions/${response.uuid}/callback`, {
        credential: 'bt_sandbox_gcb',
        body: { bank_reference: 'BANK-3', ...body },
      })
    expect((await call({ status: 'failed', error_message: 'Declined' })).status).toBe(200)
    const late = await call({ status: 'completed', approval_method: 'ussd' })
    expect([late.status, late.body.error.code]).toEqual([422, 3001])
    const kept = await itemsOf(reference, 'EXCEPTION#')
    expect(kept).toMatchObject([{ kind: 'late_completion' }])
  })

  test('replies the same 404/1404 for a foreign transaction, an unknown one and a malformed uuid', async () => {
    const { response } = (await charge()).body.data
    const body = { status: 'completed', bank_reference: 'BANK-4' }
    const replies = await Promise.all([
      report(response.uuid, body, 'bt_sandbox_eco'),
      report('8b3f1f6e-7f0a-4b44-9d6e-1f4f5d1a2b3c', body, 'bt_sandbox_eco'),
      report('not-a-uuid', body, 'bt_sandbox_eco'),
    ])
    for (const { status, body } of replies) {
      expect(status).toBe(404)
      expect({ ...body, meta: undefined }).toEqual({
        success: false,
        error: {
          code: 1404,
          message: 'Transaction not found',
          category: 'transactions',
          severity: 'low',
        },
      })
    }
  })
})
