import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import {
  debitId,
  integerId,
  newReference,
  Reference,
  referenceOf,
  Uuid,
} from '../../shared/domain/ids.ts'
import { GENERATION_MAX } from '../../shared/domain/operator/restore.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { deliveryId, deliveryOf } from '../../shared/domain/webhooks/event.ts'
import { rowsOf } from '../support/rows.ts'

const days = fc
  .date({
    min: new Date('2000-01-01T00:00:00Z'),
    max: new Date('2099-12-31T23:59:59Z'),
    noInvalidDate: true,
  })
  .map((at) => dayOf(at).replaceAll('-', ''))

const unit = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ')
const suffixes = fc.string({ unit, minLength: 6, maxLength: 6 })

const references = fc
  .tuple(days, suffixes)
  .map(([day, suffix]) => v.parse(Reference, `DCS-${day}-${suffix}`))

test('a reference is prefix, UTC day and six upper-case characters for every random number', () => {
  const draws = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  fc.assert(
    fc.property(draws, (draw) => {
      const reference = newReference('DCS', new Date('2025-01-02T10:00:00Z'), draw)
      expect(reference).toMatch(/^DCS-20250102-[0-9A-Z]{6}$/)
    }),
  )
})

const drawn = rowsOf(`
  2025-01-02T00:00:00Z        0                   DCS-20250102-000000
  2025-01-02T23:59:59Z        0.5                 DCS-20250102-I00000
  2025-01-02T23:30:00-05:00   0                   DCS-20250103-000000
  2025-01-02T00:30:00+01:00   0                   DCS-20250101-000000
  2024-02-29T12:00:00Z        0.9999999999999999  DCS-20240229-ZZZZZZ
`)

test.each(drawn)('at %s the random number %s gives %s', (at, draw, reference) => {
  expect(newReference('DCS', new Date(at), Number(draw))).toBe(reference)
})

test('the integer id and the reference are inverse', () => {
  fc.assert(
    fc.property(references, (reference) => {
      expect(referenceOf('DCS', integerId(reference))).toBe(reference)
    }),
  )
})

test('integer ids are unique, and in the order of day and suffix', () => {
  const order = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0)
  fc.assert(
    fc.property(references, references, (a, b) => {
      expect(order(integerId(a), integerId(b))).toBe(order(a, b))
    }),
  )
})

test('the id of a debit is dt_ and its integer id', () => {
  const first = v.parse(Reference, 'DCS-20000101-00000A')
  const nextDay = v.parse(Reference, 'DCS-20000102-000000')
  expect(debitId(first)).toBe('dt_10')
  expect(debitId(nextDay)).toBe('dt_2176782336')
})

test('integer ids of debits and of deliveries are safe integers for a century', () => {
  const last = v.parse(Reference, 'DCS-20991231-ZZZZZZ')
  expect(integerId(last)).toBeLessThan(2 ** 47)
  expect(Number.isSafeInteger(deliveryId({ reference: last, n: 99 }))).toBe(true)
})

const generations = fc.integer({ min: 1, max: GENERATION_MAX })

test('the id of a delivery and its event are inverse', () => {
  fc.assert(
    fc.property(references, fc.nat(9), generations, (reference, n, generation) => {
      const event = { reference, n, generation }
      expect(deliveryOf('DCS', deliveryId(event))).toEqual(event)
    }),
  )
})

test("the id of a batch's delivery is parsed in every generation", () => {
  fc.assert(
    fc.property(references, generations, (reference, generation) => {
      const batch = { reference: reference.replace('DCS', 'STL') as Reference, n: 99, generation }
      expect(deliveryOf('DCS', deliveryId(batch))).toEqual(batch)
    }),
  )
})

const notReferences = [
  'DCS-20250102-00000',
  'DCS-20250102-0000000',
  'DCS-20250102-00000a',
  'DCS-2025012-000000',
  'dcs-20250102-000000',
  '-20250102-000000',
  'DCS20250102000000',
  'DCS-20250102-000000\n',
  ' DCS-20250102-000000',
  '',
]

test.each(notReferences)('%j is not a reference', (text) => {
  expect(v.is(Reference, text)).toBe(false)
})

const uuids = rowsOf(`
  3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e    version 4                  true
  3f2b8c1e-9a4d-4f6b-be2a-5d7c9b1f0a3e    version 4                  true
  3f2b8c1e-9a4d-1f6b-8e2a-5d7c9b1f0a3e    version 1                  false
  3f2b8c1e-9a4d-7f6b-8e2a-5d7c9b1f0a3e    version 7                  false
  3f2b8c1e-9a4d-4f6b-ce2a-5d7c9b1f0a3e    another variant            false
  3F2B8C1E-9A4D-4F6B-8E2A-5D7C9B1F0A3E    upper case                 false
  3f2b8c1e9a4d4f6b8e2a5d7c9b1f0a3e        without hyphens            false
  {3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e}  in braces                  false
  00000000-0000-0000-0000-000000000000    nil                        false
`)

test.each(uuids)('whether %s (%s) is a uuid of a debit: %s', (text, _kind, verdict) => {
  expect(v.is(Uuid, text)).toBe(verdict === 'true')
})
