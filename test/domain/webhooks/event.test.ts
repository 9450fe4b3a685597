import { expect, test } from 'vitest'
import type { Debit } from '../../../shared/domain/debits/debit.ts'
import { namesOf } from '../../../shared/domain/names.ts'
import { eventId } from '../../../shared/domain/webhooks/event.ts'
import { EventType, eventTypes, sentType } from '../../../shared/domain/webhooks/event-type.ts'
import { webhookBody, webhookPayload } from '../../../shared/views/webhook-payload.ts'
import { rowsOf } from '../../support/rows.ts'
import { examples, reference } from '../debits/one-debit.ts'

const lives: Debit[] = Object.values(examples)

const events = rowsOf(`
  created     0  10:00:00.000  null  null  null          null      null                  null                        null
  pending     1  10:00:00.000  "created"     null  null          null      null                  null                        null
  processing  2  10:00:01.500  "pending"     null  null          "GCB-77"  null                  "2025-01-02T10:00:01.500Z"  null
  completed   3  10:01:00.000  "processing"  1.50  "mobile_app"  "GCB-78"  null                  "2025-01-02T10:00:01.500Z"  "2025-01-02T10:01:00.000Z"
  failed      3  10:02:00.000  "processing"  null  null          "GCB-77"  "Insufficient funds"  "2025-01-02T10:00:01.500Z"  null
  reversed    4  11:00:00.000  "completed"   1.50  "mobile_app"  "GCB-78"  null                  "2025-01-02T10:00:01.500Z"  "2025-01-02T10:01:00.000Z"
`)

const lastMembers: Record<string, string> = {
  completed: '"metadata":{"order":1001,"branch":"Accra"}',
  failed:
    '"metadata":{"order":1001,"branch":"Kumasi"},' +
    '"error_details":{"message":"Insufficient funds","code":"insufficient_funds"}',
  reversed:
    '"metadata":{"order":1001,"branch":"Accra","reversal_reason":"Dispute"},' +
    '"refund":{"uuid":"4d3c4281-94e9-44f3-9a08-f58f8bbaba3e","status":"pending","amount":100.00,' +
    '"currency":"GHS","reason":"Dispute","bank_reference":null,"error_message":null,' +
    '"created_at":"2025-01-02T11:00:00.000Z","processed_at":null,"completed_at":null,"failed_at":null}',
}

const bodyOf = ([event = '', n, time, from, fee, method, bank, error, processed, done]: string[]) =>
  `{"event":"transaction.${event}","event_id":"evt_198805530746980${n}",` +
  `"timestamp":"2025-01-02T${time}Z","api_version":"v1","sequence":${n},` +
  '"data":{"transaction":{"id":"dt_19880553074698","uuid":"3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e",' +
  '"reference":"DCS-20250102-00000A","partner_reference":"order-1001",' +
  `"status":"${event}","amount":100.00,"currency":"GHS","fee":${fee},` +
  `"narration":"Rent for January","approval_method":${method},"bank_reference":${bank},` +
  `"error_message":${error},"created_at":"2025-01-02T10:00:00.000Z","processed_at":${processed},` +
  `"completed_at":${done},"bank":{"name":"GCB Bank PLC","identifier":"GCB","country_code":"GH"},` +
  `"customer":{"name":${bank === 'null' ? null : '"Ama Mensah"'},"phone_number":"+233241234567",` +
  `"account_number":${bank === 'null' ? null : '"*********7890"'}}},"previous_status":${from},` +
  `${lastMembers[event] ?? '"metadata":{"order":1001,"branch":"Kumasi"}'}}}`

test.each(events)('the body of transaction.%s is as published, and stays so', (...row) => {
  const [event = '', number] = row
  const n = Number(number)
  const debits = lives.filter(({ history }) => history[n]?.type === event)
  expect(debits.length).toBeGreaterThan(0)
  for (const debit of debits) {
    expect(webhookBody(debit, n)).toBe(bodyOf(row))
    expect(webhookBody(debit, n, { eventNames: 'debit_request' })).toBe(
      bodyOf(row).replace('transaction.', 'debit_request.'),
    )
    expect(webhookBody(debit, n, { payload: 'reduced' })).toBe(
      `${bodyOf(row).split('"data":')[0]}"data":{"reference":"DCS-20250102-00000A",` +
        `"status":"${event}","amount":100.00,"currency":"GHS","partner_reference":"order-1001",` +
        `"timestamp":"2025-01-02T${row[2]}Z"}}`,
    )
  }
})

test.each([
  [3, ['03', '03', '13', '83']],
  [99, ['99', '99', '98', '91']],
])('the id of event %i carries the generation in which the event was written', (n, digits) => {
  const ids = [undefined, 1, 2, 9].map((generation) => eventId({ reference, n, generation }))
  expect(ids).toEqual(digits.map((ending) => `evt_19880553074698${ending}`))
})

test('an event after a restore has a higher sequence than each event that the restore lost', () => {
  const { history, ...failed } = examples.failed
  const restored = {
    ...failed,
    history: history.with(3, { ...history[3], generation: 2 } as never),
  }
  const sequences = history.map((_, n) => webhookPayload(restored, n).sequence)
  expect(sequences).toEqual([0, 1, 2, 13])
})

test('a debit that is charged after a restore has sequences from 0', () => {
  const { history, ...failed } = examples.failed
  const entries = history.map((entry) => ({ ...entry, generation: 2 })) as typeof history
  expect(webhookPayload({ ...failed, history: entries }, 3).sequence).toBe(3)
})

test('the events of creation and settlement have the published names, priorities and retries', () => {
  const { created, settled } = eventTypes
  const row = { event: 'transaction.created', priority: 'low', retries: 2 }
  expect(created).toMatchObject(row)
  const batchRow = { event: 'settlement.completed', priority: 'medium', retries: 5 }
  expect(settled).toMatchObject(batchRow)
  expect(EventType.options).toEqual(Object.values(eventTypes).map(({ event }) => event))
})

test.each(namesOf(eventTypes))(
  'the event %s is sent as an event of its debit, or else under its published name',
  (name) => {
    const { event } = eventTypes[name]
    const own = event.replace('transaction.', 'debit_request.')
    expect(sentType(name, { eventNames: 'debit_request' })).toBe(own)
    expect(sentType(name, {})).toBe(event)
  },
)
