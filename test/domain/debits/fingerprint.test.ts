import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { ChargeRequest, fingerprint } from '../../../shared/domain/debits/charge.ts'

const body = {
  phone_number: '+233241234567',
  bank_identifier: 'GCB',
  amount: '100.00',
  currency: 'GHS',
  narration: 'Rent for January',
  partner_reference: 'order-1001',
}

const shuffled = (value: object) =>
  fc
    .shuffledSubarray(Object.entries(value), { minLength: Object.keys(value).length })
    .map((entries): Record<string, unknown> => Object.fromEntries(entries))

const judged = (input: unknown): ChargeRequest => v.parse(ChargeRequest, input)

test('the fingerprint of a charge does not depend on the order of keys, at any depth', () => {
  const nested = { a: 1, b: [{ c: 2, d: 3 }], e: null }
  const metadata = fc
    .tuple(shuffled(nested), shuffled({ c: 2, d: 3 }))
    .map(([outer, inner]) => ({ ...outer, b: [inner] }))
  fc.assert(
    fc.property(shuffled(body), metadata, (fields, extra) => {
      const same = judged({ ...body, metadata: nested })
      expect(fingerprint(judged({ ...fields, metadata: extra }))).toBe(fingerprint(same))
    }),
  )
})

test('absent, null and empty metadata have one fingerprint', () => {
  const same = [body, { ...body, metadata: null }, { ...body, metadata: {} }]
  expect(new Set(same.map(judged).map(fingerprint)).size).toBe(1)
  expect(fingerprint(judged({ ...body, metadata: { a: null } }))).not.toBe(
    fingerprint(judged(body)),
  )
})

test('the fingerprints of two charges are equal only if all fields are equal', () => {
  const small = fc.record(
    {
      phone_number: fc.constantFrom('+233241234567', '+233241111111'),
      bank_identifier: fc.constantFrom('GCB', 'ECO'),
      amount: fc.constantFrom('1.00', '10.00'),
      currency: fc.constant('GHS'),
      narration: fc.constantFrom('a', 'b'),
      partner_reference: fc.constantFrom('a', 'b'),
      metadata: fc.constantFrom({}, { a: 1 }, { a: '1' }, { a: [1] }, { a: { 0: 1 } }, { b: 1 }),
    },
    { noNullPrototype: true },
  )
  fc.assert(
    fc.property(small.map(judged), small.map(judged), (a, b) => {
      expect(fingerprint(a) === fingerprint(b)).toBe(isDeepStrictEqual(a, b))
    }),
  )
})
