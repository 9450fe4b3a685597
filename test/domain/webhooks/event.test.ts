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

const ON = '2025-01-02T'

/** The members that change, as JSON, after each transition. */
const pendingState = {
  fee: 'null',
  method: 'null',
  bank: 'null',
  error: 'null',
  processed: 'null',
  completed: 'null',
  name: 'null',
  account: 'null',
  metadata: '{"order":1001,"branch":"Kumasi"}',
}
const processingState = {
  ...pendingState,
  bank: '"GCB-77"',
  processed: `"${ON}10:00:01.500Z"`,
  name: '"Ama Mensah"',
  account: '"1234567890"',
}
const failedState = { ...processingState, error: '"Insufficient funds"' }
const completedState = {
  ...processingState,
  fee: '1.50',
  method: '"mobile_app"',
  bank: '"GCB-78"',
  completed: `"${ON}10:01:00.000Z"`,
  metadata: '{"order":1001,"branch":"Accra"}',
}
const reversedState = {
  ...completedState,
  metadata: '{"order":1001,"branch":"Accra","reversal_reason":"Dispute"}',
}

/** The published body of an event; `from` is the previous status as JSON. */
const bodyOf = (
  status: string,
  [n, time, from]: [n: number, time: string, from: string],
  state: typeof pendingState,
  more = '',
) =>
  minified(`
    {"event":"transaction.${status}","event_id":"evt_198805530746980${n}",
    "timestamp":"${ON}${time}Z","api_version":"v1","sequence":${n},
    "data":{"transaction":{"id":"dt_19880553074698",
    "uuid":"3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e","reference":"DCS-20250102-00000A",
    "partner_reference":"order-1001",
    "status":"${status}","amount":100.00,"currency":"GHS","fee":${state.fee},
    "narration":"Rent for January",
    "approval_method":${state.method},"bank_reference":${state.bank},
    "error_message":${state.error},
    "created_at":"2025-01-02T10:00:00.000Z","processed_at":${state.processed},
    "completed_at":${state.completed},"bank":{"name":"GCB Bank","identifier":"GCB",
    "country_code":"GH"},
    "customer":{"name":${state.name},"phone_number":"+233241234567",
    "account_number":${state.account}}},
    "previous_status":${from},
    "metadata":${state.metadata}${minified(more)}}}
  `)

const errorDetails = ',"error_details":{"message":"Insufficient funds","code":"insufficient_funds"}'
const refund = `
  ,"refund":{"uuid":"4d3c4281-94e9-44f3-9a08-f58f8bbaba3e","status":"pending","amount":100.00,
  "currency":"GHS","reason":"Dispute","bank_reference":null,"error_message":null,
  "created_at":"2025-01-02T11:00:00.000Z","processed_at":null,"completed_at":null,
  "failed_at":null}
`

const bodies = {
  created: bodyOf('created', [0, '10:00:00.000', 'null'], pendingState),
  pending: bodyOf('pending', [1, '10:00:00.000', '"created"'], pendingState),
  processing: bodyOf('processing', [2, '10:00:01.500', '"pending"'], processingState),
  completed: bodyOf('completed', [3, '10:01:00.000', '"processing"'], completedState),
  failed: bodyOf('failed', [3, '10:02:00.000', '"processing"'], failedState, errorDetails),
  reversed: bodyOf('reversed', [4, '11:00:00.000', '"completed"'], reversedState, refund),
}

const examples: [keyof typeof bodies, Debit, number][] = [
  ['created', opened, 0],
  ['pending', opened, 1],
  ['processing', processing, 2],
  ['completed', completed, 3],
  ['failed', failed, 3],
  ['reversed', reversed, 4],
]

test.each(examples)(
  'the body of transaction.%s is the published one, byte for byte',
  (event, debit, n) => {
    expect(webhookBody(debit, n)).toBe(bodies[event])
  },
)

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

test('later events never change the bodies of earlier ones', () => {
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
  test('the reduced variant has the same envelope and six members of data', () => {
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

  test.each(examples)('debit_request.%s differs only in its name', (event, debit, n) => {
    expect(webhookBody(debit, n, { eventNames: 'debit_request' })).toBe(
      bodies[event].replace(`transaction.${event}`, `debit_request.${event}`),
    )
    expect(sentType(event, { eventNames: 'debit_request' })).toBe(`debit_request.${event}`)
    expect(sentType(event, {})).toBe(`transaction.${event}`)
  })

  test('each body is the same each time and minified', () => {
    for (const payload of [undefined, 'reduced'] as const) {
      for (const eventNames of [undefined, 'debit_request'] as const) {
        const told = () =>
          examples.map(([, debit, n]) => webhookBody(debit, n, { payload, eventNames }))
        expect(told()).toEqual(told())
        expect(told().join('')).not.toMatch(/[{,:] |\n/)
      }
    }
  })

  test('a ping has no debit', () => {
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

test('a debit that fails before submission has pending as its previous status', () => {
  const instant = moved(opened, 'failed', '10:00:02.000', {
    errorMessage: 'Account is closed',
    errorCode: 'invalid_account',
  })
  expect(JSON.parse(webhookBody(instant, 2))).toMatchObject({
    data: { previous_status: 'pending', transaction: { processed_at: null } },
  })
})

test('the event id depends on the debit and the number of the event only', () => {
  const ids = reversed.history.map((_, n) => eventId({ reference, n }))
  const before = completed.history.map((_, n) => eventId({ reference, n }))
  expect(ids).toEqual(before.concat(ids.slice(4)))
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids[0]).toBe('evt_1988055307469800')
})

test('the event id carries the generation in which the event was written', () => {
  const idIn = (generation?: number) => eventId({ reference, n: 3, generation })
  const endings = (ids: string[]) => ids.map((id) => id.replace('evt_19880553074698', ''))
  expect(endings([undefined, 1, 2, 9].map(idIn))).toEqual(['03', '03', '13', '83'])
  const batchIn = (generation?: number) => eventId({ reference, n: 99, generation })
  expect(endings([undefined, 1, 2, 9].map(batchIn))).toEqual(['99', '99', '98', '91'])
})

test('an event keeps the id of its generation after a restore', () => {
  const cause = { at: at('10:05:00.000'), by: 'bank:GCB', requestId: 'req-3', generation: 2 }
  const restored = granted(advance(opened, { ...cause, to: 'processing', changes: {} }))
  const idOf = (n: number) => JSON.parse(webhookBody(restored, n)).event_id
  expect(idOf(1)).toBe(eventId({ reference, n: 1 }))
  expect(idOf(2)).toBe(eventId({ reference, n: 2, generation: 2 }))
})

test('providers see mobile_api as mobile_app and other methods unchanged', () => {
  const shown = (['ussd', 'mobile_api', 'web', 'direct', null] as const).map(approvalMethodView)
  expect(shown).toEqual(['ussd', 'mobile_app', 'web', 'direct', null])
})

test('event types have the published priorities and retries', () => {
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
