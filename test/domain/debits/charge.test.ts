import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { accept, CHARGE_FIELD_CODES, ChargeRequest } from '../../../shared/domain/debits/charge.ts'
import { pesewas } from '../../../shared/domain/money.ts'
import { parseInput } from '../../../shared/domain/validation.ts'
import { granted, refused } from '../../support/refused.ts'
import { rowsOf } from '../../support/rows.ts'
import { at, bank, provider, reference, uuid } from './one-debit.ts'

const body = {
  phone_number: '+233241234567',
  bank_identifier: 'GCB',
  amount: '100.00',
  currency: 'GHS',
  narration: 'Rent for January',
  partner_reference: 'order-1001',
}

const judge = (input: unknown) => parseInput(ChargeRequest, input, CHARGE_FIELD_CODES)

const expectRefused = (field: string, value: unknown, code: string, message: string): void => {
  expect(refused(judge({ ...body, [field]: value }))).toEqual({
    code,
    details: { [field]: message.split('; ') },
  })
}

const wrongValues = rowsOf(`
  phone_number       "0241234567"      422/1007  must be in E.164 format; write it like +233241234567
  phone_number       "+2348012345678"  422/1007  is invalid
  phone_number       null              422/1007  is required
  phone_number       233241234567      422/1007  must be a string
  bank_identifier    null              422/1007  is required
  bank_identifier    5                 422/1007  must be a string
  bank_identifier    ["GCB"]           422/1007  must be a string
  amount             "100"             400/3007  must have exactly 2 decimal places; write 100.00 or "100.00"
  amount             "100.5"           400/3007  must have exactly 2 decimal places; write 100.00 or "100.00"
  amount             "0.50"            400/3007  must be greater than or equal to 1.00
  amount             "99999.00"        400/3007  must not exceed 10000.00 GHS
  amount             null              422/1007  is required
  amount             true              422/1007  must be a decimal with exactly 2 decimal places
  amount             ["100.00"]        422/1007  must be a decimal with exactly 2 decimal places
  currency           "NGN"             400/3004  must be GHS
  currency           "ghs"             400/3004  must be GHS
  currency           "GHS "            400/3004  must be GHS
  currency           ""                400/3004  must be GHS
  currency           null              422/1007  is required
  currency           5                 422/1007  must be a string
  narration          ""                422/1007  is required
  narration          " "               422/1007  is required
  narration          null              422/1007  is required
  narration          {}                422/1007  must be a string
  narration          "a\\u0000b"       422/1007  must not contain control or invisible formatting characters
  partner_reference  ""                422/1007  is required
  partner_reference  null              422/1007  is required
  partner_reference  1001              422/1007  must be a string
  partner_reference  "a\\nb"           422/1007  must not contain control or invisible formatting characters
  metadata           []                422/1007  must be an object
  metadata           "a=b"             422/1007  must be an object
`)

describe('wrong values are reported with their field', () => {
  test.each(wrongValues)('the %s %s is %s: %s', (field, value, code, message) => {
    expectRefused(field, JSON.parse(value), code, message)
  })

  test('text above its maximum length is refused', () => {
    const tooLong = 'must not exceed 100 characters'
    expectRefused('narration', 'a'.repeat(101), '422/1007', tooLong)
    expectRefused('partner_reference', 'a'.repeat(51), '422/1007', tooLong.replace('100', '50'))
  })

  test('metadata above 8 KiB is refused', () => {
    const metadata = { note: 'a'.repeat(8 * 1024) }
    expectRefused('metadata', metadata, '422/1007', 'must not exceed 8192 bytes')
  })

  test.each(Object.keys(body))('a charge without %s is refused', (field) => {
    expectRefused(field, undefined, '422/1007', 'is required')
    const others = Object.entries(body).filter(([name]) => name !== field)
    expect(refused(judge(Object.fromEntries(others))).details).toEqual({ [field]: ['is required'] })
  })
})

test('several wrong fields are all reported, under 1007', () => {
  expect(refused(judge({ ...body, amount: '100', currency: 'NGN', narration: '' }))).toEqual({
    code: '422/1007',
    details: {
      amount: ['must have exactly 2 decimal places', 'write 100.00 or "100.00"'],
      currency: ['must be GHS'],
      narration: ['is required'],
    },
  })
  expect(refused(judge({}))).toEqual({
    code: '422/1007',
    details: Object.fromEntries(Object.keys(body).map((field) => [field, ['is required']])),
  })
})

test('the longest texts and the smallest and largest amounts are accepted', () => {
  const edges = { narration: 'a'.repeat(100), partner_reference: 'b'.repeat(50), metadata: {} }
  for (const amount of ['1.00', '10000.00']) {
    expect(granted(judge({ ...body, ...edges, amount }))).toMatchObject(edges)
  }
})

test('a narration may have line breaks and text that looks like code', () => {
  const narration = 'Rent\r\n\t<b>January</b> {"level":"error"}'
  expect(granted(judge({ ...body, narration }))).toMatchObject({ narration })
})

test('unknown fields are dropped', () => {
  const stranger = { status: 'completed', fee: '0.00', uuid, reference, provider_id: 'other' }
  const known = { ...body, amount: 100_00 }
  expect(judge({ ...body, ...stranger, completed_at: null, id: 1 })).toEqual(known)
})

const request = v.parse(ChargeRequest, { ...body, metadata: { order: 1001 } })
const charge = { provider, bank, reference, uuid, at: at('23:59:59.999'), requestId: 'req-1' }

describe('refused charges', () => {
  test.each([
    ['an unknown bank', '402/1402', undefined],
    ['a bank that is not live', '402/1402', { ...bank, status: 'inactive' as const }],
    ['a bank without a connector', '503/2003', { ...bank, connector: 'none' as const }],
  ])('%s is %s', (_, code, bank) => {
    expect(refused(accept(request, { ...charge, bank })).code).toBe(code)
  })

  test("an amount above the bank's maximum is 400/3005", () => {
    const strict = { ...bank, maximum: pesewas(99_99) }
    expect(refused(accept(request, { ...charge, bank: strict }))).toEqual({
      code: '400/3005',
      details: { amount: ["exceeds the bank's maximum"], limit: 'bank', maximum: '99.99' },
    })
    granted(accept(request, { ...charge, bank: { ...bank, maximum: request.amount } }))
  })
})

test('an accepted charge creates a pending debit with two events', () => {
  const debit = granted(accept(request, charge))
  const cause = { at: charge.at, by: 'provider:demo', requestId: 'req-1', changes: {} }
  expect(debit).toEqual({
    facts: {
      reference,
      uuid,
      provider: 'demo',
      partnerReference: 'order-1001',
      bank: { identifier: 'GCB', name: 'GCB Bank' },
      phone: '+233241234567',
      amount: 100_00,
      narration: 'Rent for January',
      metadata: { order: 1001 },
    },
    status: 'pending',
    version: 1,
    history: [
      { type: 'created', ...cause },
      { type: 'pending', ...cause },
    ],
  })
})

test('a charge counts in the total of its UTC day only with a daily limit', () => {
  const limited = { ...provider, dailyLimit: pesewas(50_000_00) }
  expect(granted(accept(request, { ...charge, provider: limited })).facts).toMatchObject({
    countedOn: '2025-01-02',
  })
  expect(granted(accept(request, charge)).facts).not.toHaveProperty('countedOn')
})
