import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { advance, type Debit } from '../../../shared/domain/debits/debit.ts'
import { eventId } from '../../../shared/domain/webhooks/event.ts'
import {
  type EventName,
  EventType,
  eventTypes,
  sentType,
} from '../../../shared/domain/webhooks/event-type.ts'
import { approvalMethodView } from '../../../shared/views/transaction.ts'
import { pingBody, webhookBody } from '../../../shared/views/webhook-payload.ts'
import { granted } from '../../support/refused.ts'
import { rowsOf } from '../../support/rows.ts'
import {
  at,
  completed,
  failed,
  moved,
  opened,
  processing,
  reference,
  reversed,
} from '../debits/one-debit.ts'

/** The text of a JSON body without the line ends and indents it is shown with here. */
const minified = (shown: string): string => shown.trim().replaceAll(/\n\s*/g, '')

const bodies = {
  created: minified(`
    {"event":"transaction.created","event_id":"evt_1988055307469800",
    "timestamp":"2025-01-02T10:00:00.000Z","api_version":"v1","sequence":0,
    "data":{"transaction":{"id":"dt_19880553074698",
    "uuid":"3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e","reference":"DCS-20250102-00000A",
    "partner_reference":"order-1001",
    "status":"created","amount":100.00,"currency":"GHS","fee":null,
    "narration":"Rent for January",
    "approval_method":null,"bank_reference":null,"error_message":null,
    "created_at":"2025-01-02T10:00:00.000Z","processed_at":null,"completed_at":null,"bank":{
    "name":"GCB Bank","identifier":"GCB","country_code":"GH"},
    "customer":{"name":null,"phone_number":"+233241234567","account_number":null}},
    "previous_status":null,
    "metadata":{"order":1001,"branch":"Kumasi"}}}
  `),
  pending: minified(`
    {"event":"transaction.pending","event_id":"evt_1988055307469801",
    "timestamp":"2025-01-02T10:00:00.000Z","api_version":"v1","sequence":1,
    "data":{"transaction":{"id":"dt_19880553074698",
    "uuid":"3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e","reference":"DCS-20250102-00000A",
    "partner_reference":"order-1001",
    "status":"pending","amount":100.00,"currency":"GHS","fee":null,
    "narration":"Rent for January",
    "approval_method":null,"bank_reference":null,"error_message":null,
    "created_at":"2025-01-02T10:00:00.000Z","processed_at":null,"completed_at":null,"bank":{
    "name":"GCB Bank","identifier":"GCB","country_code":"GH"},
    "customer":{"name":null,"phone_number":"+233241234567","account_number":null}},
    "previous_status":"created",
    "metadata":{"order":1001,"branch":"Kumasi"}}}
  `),
  processing: minified(`
    {"event":"transaction.processing","event_id":"evt_1988055307469802",
    "timestamp":"2025-01-02T10:00:01.500Z","api_version":"v1","sequence":2,
    "data":{"transaction":{"id":"dt_19880553074698",
    "uuid":"3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e","reference":"DCS-20250102-00000A",
    "partner_reference":"order-1001",
    "status":"processing","amount":100.00,"currency":"GHS","fee":null,
    "narration":"Rent for January",
    "approval_method":null,"bank_reference":"GCB-77","error_message":null,
    "created_at":"2025-01-02T10:00:00.000Z","processed_at":"2025-01-02T10:00:01.500Z",
    "completed_at":null,"bank":{"name":"GCB Bank","identifier":"GCB","country_code":"GH"},
    "customer":{"name":"Ama Mensah","phone_number":"+233241234567",
    "account_number":"1234567890"}},
    "previous_status":"pending",
    "metadata":{"order":1001,"branch":"Kumasi"}}}
  `),
  completed: minified(`
    {"event":"transaction.completed","event_id":"evt_1988055307469803",
    "timestamp":"2025-01-02T10:01:00.000Z","api_version":"v1","sequence":3,
    "data":{"transaction":{"id":"dt_19880553074698",
    "uuid":"3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e","reference":"DCS-20250102-00000A",
    "partner_reference":"order-1001",
    "status":"completed","amount":100.00,"currency":"GHS","fee":1.50,
    "narration":"Rent for January",
    "approval_method":"mobile_app","bank_reference":"GCB-78","error_message":null,
    "created_at":"2025-01-02T10:00:00.000Z","processed_at":"2025-01-02T10:00:01.500Z",
    "completed_at":"2025-01-02T10:01:00.000Z","bank":{"name":"GCB Bank","identifier":"GCB",
    "country_code":"GH"},
    "customer":{"name":"Ama Mensah","phone_number":"+233241234567",
    "account_number":"1234567890"}},
    "previous_status":"processing",
    "metadata":{"order":1001,"branch":"Accra"}}}
  `),
  failed: minified(`
    {"event":"transaction.failed","event_id":"evt_1988055307469803",
    "timestamp":"2025-01-02T10:02:00.000Z","api_version":"v1","sequence":3,
    "data":{"transaction":{"id":"dt_19880553074698",
    "uuid":"3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e","reference":"DCS-20250102-00000A",
    "partner_reference":"order-1001",
    "status":"failed","amount":100.00,"currency":"GHS","fee":null,
    "narration":"Rent for January",
    "approval_method":null,"bank_reference":"GCB-77","error_message":"Insufficient funds",
    "created_at":"2025-01-02T10:00:00.000Z","processed_at":"2025-01-02T10:00:01.500Z",
    "completed_at":null,"bank":{"name":"GCB Bank","identifier":"GCB","country_code":"GH"},
    "customer":{"name":"Ama Mensah","phone_number":"+233241234567",
    "account_number":"1234567890"}},
    "previous_status":"processing",
    "metadata":{"order":1001,"branch":"Kumasi"},"error_details":{"message":"Insufficient funds",
    "code":"insufficient_funds"}}}
  `),
  reversed: minified(`
    {"event":"transaction.reversed","event_id":"evt_1988055307469804",
    "timestamp":"2025-01-02T11:00:00.000Z","api_version":"v1","sequence":4,
    "data":{"transaction":{"id":"dt_19880553074698",
    "uuid":"3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e","reference":"DCS-20250102-00000A",
    "partner_reference":"order-1001",
    "status":"reversed","amount":100.00,"currency":"GHS","fee":1.50,
    "narration":"Rent for January",
    "approval_method":"mobile_app","bank_reference":"GCB-78","error_message":null,
    "created_at":"2025-01-02T10:00:00.000Z","processed_at":"2025-01-02T10:00:01.500Z",
    "completed_at":"2025-01-02T10:01:00.000Z","bank":{"name":"GCB Bank","identifier":"GCB",
    "country_code":"GH"},
    "customer":{"name":"Ama Mensah","phone_number":"+233241234567",
    "account_number":"1234567890"}},
    "previous_status":"completed",
    "metadata":{"order":1001,"branch":"Accra","reversal_reason":"Dispute"},
    "refund":{"uuid":"4d3c4281-94e9-44f3-9a08-f58f8bbaba3e","status":"pending","amount":100.00,
    "currency":"GHS","reason":"Dispute","bank_reference":null,"error_message":null,
    "created_at":"2025-01-02T11:00:00.000Z","processed_at":null,"completed_at":null,
    "failed_at":null}}}
  `),
}

const examples: [keyof typeof bodies, Debit, number][] = [
  ['created', opened, 0],
  ['pending', opened, 1],
  ['processing', processing, 2],
  ['completed', completed, 3],
  ['failed', failed, 3],
  ['reversed', reversed, 4],
]

test.each(examples)('the body of transaction.%s is published to the byte', (event, debit, n) => {
  expect(webhookBody(debit, n)).toBe(bodies[event])
})

test('the body of an event stays the same bytes after later events', () => {
  const later: [Debit, Debit][] = [
    [opened, processing],
    [processing, completed],
    [processing, failed],
    [completed, reversed],
  ]
  for (const [before, after] of later) {
    const told = (debit: Debit) => before.history.map((_, n) => webhookBody(debit, n))
    expect(told(after)).toEqual(told(before))
  }
})

test('whatever a later event changes, the bodies of earlier events stay the same bytes', () => {
  const changes = fc.record(
    {
      bankReference: fc.string(),
      approvalMethod: fc.constantFrom('ussd' as const, 'web' as const),
      customerName: fc.string(),
      metadata: fc.dictionary(fc.string(), fc.jsonValue()),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(changes, (changed) => {
      const after = moved(processing, 'completed', '10:05:00.000', changed)
      expect(webhookBody(after, 2)).toBe(bodies.processing)
    }),
  )
})

describe('variants', () => {
  test('reduced: the same envelope, and data of six members', () => {
    expect(webhookBody(completed, 3, { payload: 'reduced' })).toBe(
      minified(`
        {"event":"transaction.completed","event_id":"evt_1988055307469803",
        "timestamp":"2025-01-02T10:01:00.000Z","api_version":"v1","sequence":3,
        "data":{"reference":"DCS-20250102-00000A","status":"completed","amount":100.00,
        "currency":"GHS","partner_reference":"order-1001",
        "timestamp":"2025-01-02T10:01:00.000Z"}}
      `),
    )
  })

  test.each(examples)('debit_request.%s differs in its name alone', (event, debit, n) => {
    expect(webhookBody(debit, n, { eventNames: 'debit_request' })).toBe(
      bodies[event].replace(`transaction.${event}`, `debit_request.${event}`),
    )
    expect(sentType(event, { eventNames: 'debit_request' })).toBe(`debit_request.${event}`)
    expect(sentType(event, {})).toBe(`transaction.${event}`)
  })

  test('each body is the same however often it is told, and has no blank to spare', () => {
    for (const payload of [undefined, 'reduced'] as const) {
      for (const eventNames of [undefined, 'debit_request'] as const) {
        const told = () =>
          examples.map(([, debit, n]) => webhookBody(debit, n, { payload, eventNames }))
        expect(told()).toEqual(told())
        expect(told().join('')).not.toMatch(/[{,:] |\n/)
      }
    }
  })

  test('a ping is of no debit', () => {
    const at = new Date('2025-01-02T10:00:00.000Z')
    expect(pingBody({ eventId: 'evt_1', at })).toBe(
      '{"event":"ping","event_id":"evt_1","timestamp":"2025-01-02T10:00:00.000Z",' +
        '"api_version":"v1","data":{}}',
    )
  })
})

test('only transaction.failed carries error_details', () => {
  const carried = examples.filter(([, debit, n]) => webhookBody(debit, n).includes('error_details'))
  expect(carried.map(([event]) => event)).toEqual(['failed'])
})

test('a debit that fails before its bank has it has pending as its previous status', () => {
  const instant = moved(opened, 'failed', '10:00:02.000', {
    errorMessage: 'Account is closed',
    errorCode: 'invalid_account',
  })
  expect(JSON.parse(webhookBody(instant, 2))).toMatchObject({
    data: { previous_status: 'pending', transaction: { processed_at: null } },
  })
})

test('the event id is a function of the debit and the number of the event', () => {
  const ids = reversed.history.map((_, n) => eventId({ reference, n }))
  const before = completed.history.map((_, n) => eventId({ reference, n }))
  expect(ids).toEqual(before.concat(ids.slice(4)))
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids[0]).toBe('evt_1988055307469800')
})

test('the event id carries the generation in which the event was written', () => {
  const idIn = (generation?: number) => eventId({ reference, n: 3, generation })
  expect([undefined, 1, 2, 9].map(idIn)).toEqual([
    'evt_1988055307469803',
    'evt_1988055307469803',
    'evt_1988055307469813',
    'evt_1988055307469883',
  ])
  const batchIn = (generation?: number) => eventId({ reference, n: 99, generation })
  expect([undefined, 1, 2, 9].map(batchIn)).toEqual([
    'evt_1988055307469899',
    'evt_1988055307469899',
    'evt_1988055307469898',
    'evt_1988055307469891',
  ])
})

test('an event keeps the id of its own generation, whatever is written after a restore', () => {
  const restored = granted(
    advance(opened, {
      to: 'processing',
      at: at('10:05:00.000'),
      by: 'bank:GCB',
      requestId: 'req-3',
      generation: 2,
      changes: {},
    }),
  )
  const idOf = (n: number) => JSON.parse(webhookBody(restored, n)).event_id
  expect(idOf(1)).toBe(eventId({ reference, n: 1 }))
  expect(idOf(2)).toBe(eventId({ reference, n: 2, generation: 2 }))
})

test('mobile_api is shown to providers as mobile_app, and the others as they are', () => {
  const shown = (['ussd', 'mobile_api', 'web', 'direct', null] as const).map(approvalMethodView)
  expect(shown).toEqual(['ussd', 'mobile_app', 'web', 'direct', null])
})

describe('the events', () => {
  test('have the published priorities and retries', () => {
    const rows = rowsOf(`
      created     transaction.created     low     2
      pending     transaction.pending     low     2
      processing  transaction.processing  medium  5
      completed   transaction.completed   high    10
      failed      transaction.failed      high    10
      reversed    transaction.reversed    medium  5
      settled     settlement.completed    medium  5
    `)
    const names = Object.keys(eventTypes) as EventName[]
    const listed = names.map((name) => {
      const { event, priority, retries } = eventTypes[name]
      return [name, event, priority, String(retries)]
    })
    expect(listed).toEqual(rows)
    expect(EventType.options).toEqual(rows.map(([, event]) => event))
  })
})
