import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { hasPhoneNumber, maskPhone, PhoneNumber } from '../../shared/domain/phone.ts'
import { rowsOf } from '../support/rows.ts'
import { messagesOf } from './messages-of.ts'

test('a Ghanaian number in E.164 is +233 and nine digits, the first not zero', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100_000_000, max: 999_999_999 }), (subscriber) => {
      expect(v.parse(PhoneNumber, `+233${subscriber}`)).toBe(`+233${subscriber}`)
    }),
  )
})

const refusals = rowsOf(`
  is required       null
  must be a string  233241234567  true  ["+233241234567"]  {}
  is invalid        "+2332412345678"  "+23324123456"  "+14155550123"  "+233041234567"  "+2348012345678"  "+254712345678"
  must be in E.164 format; write it like +233241234567  "233241234567"  "0241234567"  ""  "+"  "+233241234567\\n"
  must be in E.164 format; write it like +233241234567  "00233241234567"  "+233 24 123 4567"  "+233-24-123-4567"
  must be in E.164 format; write it like +233241234567  "+233(24)1234567"  "+2332412345678901"  "+23324123456a"
  must be in E.164 format; write it like +233241234567  "+23324１２３４５６７"  "＋233241234567"  " +233241234567"
`).flatMap(([message = '', ...inputs]) => inputs.map((input) => [input, message] as const))

test.each(refusals)('the phone number %s is refused: it %s', (input, message) => {
  expect(messagesOf(PhoneNumber, JSON.parse(input)).join('; ')).toBe(message)
})

test('a masked number keeps the country and the last four digits', () => {
  expect(maskPhone('+233241234567')).toBe('+233*****4567')
})

test.each([
  '+233241234567',
  '00233 24 123 4567',
  'ask 233-24-123-4567.',
  '+233 (0)24 123 4567',
  '(0241234567)',
  'Ama 024 123 4567, again',
  'call 0244 123 456',
  '0244-123-456',
  '024 4123 456',
  '(024) 412-3456',
  '024.412.3456.',
  '02 44 12 34 56',
  '024 - 412 - 3456',
  '+233 (0) 244 123 456',
  'ticket 4711, 0302 123 456',
  'tel0244123456',
])('the text `%s` has a phone number', (text) => {
  expect(hasPhoneNumber(text)).toBe(true)
})

test.each([
  'Dispute 4711',
  'Statement of 02.11.2026 10:00',
  'DCS-20261121-ABC123',
  'Statement of 02-11-26 10.30',
  '2026-02-11 103045',
  'DCS-20261121-024123 4711',
  '5ab02412-4567-4a11-8c11-ab0241234567',
  'Batch 233 100.00 2000.00',
  'GHS 30.00 20.00 50.00 100.00',
  '1.020.300.5000',
  'RTGS 1020241234567',
  '0123456789',
  '233',
])('the text `%s` has no phone number', (text) => {
  expect(hasPhoneNumber(text)).toBe(false)
})
