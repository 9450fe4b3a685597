import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { BankIdentifier } from '../../../shared/domain/banks/bank.ts'
import {
  accept,
  CHARGE_FIELD_CODES,
  ChargeRequest,
  fingerprint,
  requestOf,
} from '../../../shared/domain/debits/charge.ts'
import { wholeFacts } from '../../../shared/domain/debits/debit.ts'
import { pesewas } from '../../../shared/domain/money.ts'
import { parseInput } from '../../../shared/domain/validation.ts'
import { demoProvider, gcb, pendingDebit } from '../../support/examples.ts'
import { granted, refused } from '../../support/refused.ts'
import { chargeBody } from '../../support/requests.ts'
import { rowsOf } from '../../support/rows.ts'
import { at, reference, uuid } from './one-debit.ts'

const body = chargeBody({ narration: 'Rent for January', partner_reference: 'order-1001' })
const parse = (input: unknown) => parseInput(ChargeRequest, input, CHARGE_FIELD_CODES)

const CONTROL = 'must not contain control or invisible formatting characters'

// All amounts, phone numbers and texts: test/domain.
const wrongValues = rowsOf(`
  phone_number       422/1007  must be in E.164 format; write it like +233241234567  "0241234567"
  bank_identifier    422/1007  must be a string                   5  ["GCB"]
  amount             400/3007  must have exactly 2 decimal places; write 100.00 or "100.00"  "100"  "100.5"
  amount             422/1007  must be a decimal with exactly 2 decimal places  true  ["100.00"]
  currency           400/3004  must be GHS                        "NGN"  "ghs"  "GHS "  ""
  currency           422/1007  must be a string                   5
  narration          422/1007  ${CONTROL}  "a\\u0000b"
  narration          422/1007  must not exceed 100 characters     "${'a'.repeat(101)}"
  partner_reference  422/1007  ${CONTROL}  "a\\nb"
  partner_reference  422/1007  must not exceed 50 characters      "${'a'.repeat(51)}"
  metadata           422/1007  must be an object                  []  "a=b"
  metadata           422/1007  must not exceed 8192 bytes         {"note":"${'a'.repeat(8_182)}"}
`).flatMap(([field = '', code = '', message = '', ...values]) =>
  values.map((value) => [field, value, code, message] as const),
)

test.each(wrongValues)('the %s %s is %s: %s', (field, value, code, message) => {
  expect(refused(parse({ ...body, [field]: JSON.parse(value) }))).toEqual({
    code,
    details: { [field]: message.split('; ') },
  })
})

test('each field of a charge has wrong values in this table', () => {
  expect(new Set(wrongValues.map(([field]) => field))).toEqual(
    new Set(Object.keys(ChargeRequest.entries)),
  )
})

test('all wrong fields are reported, under 1007', () => {
  expect(refused(parse({ ...body, amount: '0.50', currency: 'NGN' }))).toEqual({
    code: '422/1007',
    details: { amount: ['must be greater than or equal to 1.00'], currency: ['must be GHS'] },
  })
  const required = Object.keys(body).map((field) => [field, ['is required']])
  const nulls = Object.fromEntries(Object.keys(body).map((field) => [field, null]))
  for (const absent of [{}, nulls]) {
    expect(refused(parse(absent)).details).toEqual(Object.fromEntries(required))
  }
})

test('the longest texts and the smallest and largest amounts are accepted', () => {
  const edges = { narration: 'a'.repeat(100), partner_reference: 'b'.repeat(50) }
  const metadata = { note: 'a'.repeat(8_181) }
  for (const amount of ['1.00', '10000.00']) granted(parse({ ...body, ...edges, metadata, amount }))
})

test('the tabs and line breaks of a narration become blanks, also in stored charges', () => {
  const narration = 'Rent\nfor\tJanuary\u2028'
  const { narration: stored } = requestOf({ ...wholeFacts(pendingDebit()), narration })
  expect([granted(parse({ ...body, narration })).narration, stored]).toEqual(
    Array(2).fill('Rent for January '),
  )
})

test('a text that looks like code is unchanged, and unknown fields are dropped', () => {
  const known = { ...body, narration: 'Rent <b>January</b> {"level":"error"}' }
  const stranger = { status: 'completed', fee: '0.00', uuid, provider_id: 'other', id: 1 }
  expect(parse({ ...known, ...stranger })).toEqual({ ...known, amount: 100_00 })
})

const request = v.parse(ChargeRequest, { ...body, metadata: { order: 1001 } })
const context = {
  reference,
  uuid,
  at: at('23:59:59.999'),
  requestId: 'req-1',
  bankState: 'up' as const,
}
const charge = { ...context, provider: { ...demoProvider, dailyLimit: undefined }, bank: gcb }

test.each([
  [{ dailyLimit: pesewas(50_000_00) }, '2025-01-02'],
  [{ dailyLimit: undefined, countedUntil: '2025-01-02' }, '2025-01-02'],
  [{ dailyLimit: undefined, countedUntil: '2025-01-01' }, undefined],
])('a charge of a provider with %j counts in the total of the UTC day %s', (changes, countedOn) => {
  const debit = granted(accept(request, { ...charge, provider: { ...demoProvider, ...changes } }))
  expect(debit.facts.countedOn).toBe(countedOn)
})

const values = {
  phone_number: fc.constantFrom('+233241234567', '+233241111111'),
  bank_identifier: fc.constantFrom('GCB', 'ECO'),
  amount: fc.constantFrom('1.00', '10.00'),
  currency: fc.constant('GHS'),
  narration: fc.constantFrom('a', 'b'),
  partner_reference: fc.constantFrom('a', 'b'),
  metadata: fc.constantFrom(
    { a: 1 },
    { a: '1' },
    { a: [1] },
    { a: { 0: 1 } },
    { a: null },
    {},
    null,
  ),
} satisfies Record<keyof ChargeRequest, unknown>

const bankIdentifier = (text: string) => v.parse(BankIdentifier, text)

const charges = fc
  .record(values, { noNullPrototype: true })
  .map((input) => v.parse(ChargeRequest, input))

test('the fingerprints of two charges are equal only if all fields are equal', () => {
  const known = (charge: ChargeRequest) => ({ ...charge, metadata: charge.metadata ?? {} })
  fc.assert(
    fc.property(charges, charges, (a, b) => {
      expect(fingerprint(a) === fingerprint(b)).toBe(isDeepStrictEqual(known(a), known(b)))
    }),
  )
})

test('the fingerprint of a charge does not depend on the order of keys, at any depth', () => {
  const shuffled = (value: object) =>
    fc
      .shuffledSubarray(Object.entries(value), { minLength: Object.keys(value).length })
      .map((entries): Record<string, unknown> => Object.fromEntries(entries))
  const same = fingerprint(
    v.parse(ChargeRequest, { ...body, metadata: { a: 1, b: [{ c: 2, d: 3 }] } }),
  )
  fc.assert(
    fc.property(shuffled(body), shuffled({ a: 1, b: 0 }), shuffled({ c: 2, d: 3 }), (...parts) => {
      const [fields, outer, inner] = parts
      const charge = v.parse(ChargeRequest, { ...fields, metadata: { ...outer, b: [inner] } })
      expect(fingerprint(charge)).toBe(same)
    }),
  )
})

test('a debit names the request that created it, with each field', () => {
  fc.assert(
    fc.property(charges, (request) => {
      const debit = granted(
        accept(request, {
          ...charge,
          bank: { ...gcb, identifier: bankIdentifier(request.bank_identifier) },
        }),
      )
      expect(fingerprint(requestOf(wholeFacts(debit)))).toBe(fingerprint(request))
    }),
  )
})

test('a field that is absent, null or undefined gives one fingerprint', () => {
  const given = v.parse(ChargeRequest, body)
  const optional = Object.keys(ChargeRequest.entries).filter((field) => !(field in body))
  expect(optional).toContain('metadata')
  for (const field of optional) {
    const fingerprints = [null, undefined].map((none) => fingerprint({ ...given, [field]: none }))
    expect(new Set([...fingerprints, fingerprint(given)]).size).toBe(1)
  }
})
