import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import {
  debitId,
  debitUuid,
  integerId,
  newReference,
  Reference,
  referenceOf,
  referenceOfUuid,
  Uuid,
} from '../../shared/domain/ids.ts'
import { GENERATION_MAX } from '../../shared/domain/operator/restore.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { deliveryId, deliveryOf } from '../../shared/domain/webhooks/event.ts'
import { rowsOf } from '../support/rows.ts'

const [min, max] = [new Date('2000-01-01T00:00:00Z'), new Date('2099-12-31T23:59:59Z')]
const days = fc.date({ min, max, noInvalidDate: true }).map((at) => dayOf(at).replaceAll('-', ''))
const unit = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ')
const references = fc
  .tuple(days, fc.string({ unit, minLength: 6, maxLength: 6 }))
  .map(([day, suffix]) => v.parse(Reference, `DCS-${day}-${suffix}`))

test.each([
  ['2025-01-02T00:00:00Z', 0, 'DCS-20250102-000000'],
  ['2025-01-02T23:59:59Z', 0.5, 'DCS-20250102-I00000'],
  ['2025-01-02T23:30:00-05:00', 0, 'DCS-20250103-000000'],
  ['2024-02-29T12:00:00Z', 0.9999999999999999, 'DCS-20240229-ZZZZZZ'],
])('a reference is prefix, UTC day and random suffix: %s, %s, %s', (at, draw, reference) => {
  expect(newReference('DCS', new Date(at), draw)).toBe(reference)
})

test('the integer id and the reference are inverse', () => {
  fc.assert(
    fc.property(references, (reference) => {
      expect(referenceOf('DCS', integerId(reference))).toBe(reference)
    }),
  )
})

test.each([
  ['DCS-20000101-00000A', 'dt_10'],
  ['DCS-20000102-000000', 'dt_2176782336'],
])('the id of the debit %s is dt_ and its integer id: %s', (reference, id) => {
  expect(debitId(v.parse(Reference, reference))).toBe(id)
})

test('the integer ids of debits and of deliveries are safe integers for a century', () => {
  const last = v.parse(Reference, 'DCS-20991231-ZZZZZZ')
  expect(integerId(last)).toBeLessThan(2 ** 47)
  expect(Number.isSafeInteger(deliveryId({ reference: last, n: 99 }))).toBe(true)
})

test('the id of a delivery and its event are inverse, for debits and batches', () => {
  const generations = fc.integer({ min: 1, max: GENERATION_MAX })
  fc.assert(
    fc.property(references, fc.nat(9), generations, (reference, n, generation) => {
      const event = { reference, n, generation }
      expect(deliveryOf('DCS', deliveryId(event))).toEqual(event)
      const batch = { reference: reference.replace('DCS', 'STL') as Reference, n: 99, generation }
      expect(deliveryOf('DCS', deliveryId(batch))).toEqual(batch)
    }),
  )
})

test.each([
  ...['DCS-20250102-00000', 'DCS-20250102-0000000', 'DCS-20250102-00000a', 'DCS-2025012-000000'],
  ...['dcs-20250102-000000', '-20250102-000000', 'DCS20250102000000', 'DCS-20250102-000000\n'],
  ...[' DCS-20250102-000000', ''],
])('the text %j is not a reference', (text) => {
  expect(v.is(Reference, text)).toBe(false)
})

const uuids = rowsOf(`
  3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e    version 4        true
  3f2b8c1e-9a4d-4f6b-be2a-5d7c9b1f0a3e    version 4        true
  3f2b8c1e-9a4d-1f6b-8e2a-5d7c9b1f0a3e    version 1        false
  3f2b8c1e-9a4d-7f6b-8e2a-5d7c9b1f0a3e    version 7        false
  3f2b8c1e-9a4d-4f6b-ce2a-5d7c9b1f0a3e    another variant  false
  3F2B8C1E-9A4D-4F6B-8E2A-5D7C9B1F0A3E    upper case       true
  3f2b8c1e9a4d4f6b8e2a5d7c9b1f0a3e        without hyphens  false
  {3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e}  in braces        false
`)

test.each(uuids)('the text %s (%s) is a uuid of a debit: %s', (text, _, expected) => {
  expect(v.is(Uuid, text)).toBe(expected === 'true')
})

/** Every reference that 48 bits hold: also the last one. */
const LAST_ID = 2 ** 48 - 1
const created = fc.maxSafeNat().map((id) => referenceOf('DCS', id % (LAST_ID + 1)))

test('the uuid of a debit has the form of version 4 and contains its reference', () => {
  const ends = [0, 2 ** 47 - 1, 2 ** 47, LAST_ID].map((id) => [referenceOf('DCS', id)] as const)
  fc.assert(
    fc.property(fc.oneof(created, references), (reference) => {
      const uuid = debitUuid(reference)
      expect(v.is(Uuid, uuid)).toBe(true)
      expect(referenceOfUuid('DCS', uuid)).toBe(reference)
      expect(referenceOfUuid('DCS', uuid.toUpperCase())).toBe(reference)
      expect(referenceOfUuid('ABC', uuid)).toBeUndefined()
    }),
    { numRuns: 10_000, examples: ends.map(([reference]) => [reference]) },
  )
})

test('a uuid with one changed bit names no debit', () => {
  fc.assert(
    fc.property(references, fc.nat(127), (reference, bit) => {
      const number = BigInt(`0x${debitUuid(reference).replaceAll('-', '')}`) ^ (1n << BigInt(bit))
      const hex = number.toString(16).padStart(32, '0')
      const changed = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
      expect(referenceOfUuid('DCS', changed)).toBeUndefined()
    }),
    { numRuns: 2_000 },
  )
})
