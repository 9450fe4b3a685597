import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { maskPhone, PhoneNumber } from '../../shared/domain/phone.ts'
import { rowsOf } from '../support/rows.ts'

const messages = (input: unknown): string =>
  v
    .safeParse(PhoneNumber, input)
    .issues?.map(({ message }) => message)
    .join('; ') ?? ''

test('a Ghanaian number in E.164 is +233 and nine digits, the first not zero', () => {
  const digits = fc.integer({ min: 100_000_000, max: 999_999_999 })
  fc.assert(
    fc.property(digits, (subscriber) => {
      const phone = `+233${subscriber}`
      expect(v.parse(PhoneNumber, phone)).toBe(phone)
    }),
  )
})

const sandbox = ['+233241234567', '+233241111111', '+233242222222', '+233243333333']

test.each(sandbox)('the sandbox number %s is a phone number', (phone) => {
  expect(v.is(PhoneNumber, phone)).toBe(true)
})

const refusals = rowsOf(`
  "+2332412345678"      is invalid
  "+23324123456"        is invalid
  "+233041234567"       is invalid
  "+2348012345678"      is invalid
  "+254712345678"       is invalid
  "+14155550123"        is invalid
  "233241234567"        must be in E.164 format; write it like +233241234567
  "0241234567"          must be in E.164 format; write it like +233241234567
  "00233241234567"      must be in E.164 format; write it like +233241234567
  "+233 24 123 4567"    must be in E.164 format; write it like +233241234567
  "+233-24-123-4567"    must be in E.164 format; write it like +233241234567
  "+233(24)1234567"     must be in E.164 format; write it like +233241234567
  "+2332412345678901"   must be in E.164 format; write it like +233241234567
  "+23324123456a"       must be in E.164 format; write it like +233241234567
  "+23324１２３４５６７"  must be in E.164 format; write it like +233241234567
  "＋233241234567"      must be in E.164 format; write it like +233241234567
  "+233241234567\\n"    must be in E.164 format; write it like +233241234567
  " +233241234567"      must be in E.164 format; write it like +233241234567
  "+"                   must be in E.164 format; write it like +233241234567
  ""                    must be in E.164 format; write it like +233241234567
  null                  is required
  233241234567          must be a string
  true                  must be a string
  ["+233241234567"]     must be a string
  {}                    must be a string
`)

test.each(refusals)('the phone number %s %s', (input, message) => {
  expect(messages(JSON.parse(input))).toBe(message)
})

test('a missing phone number is required', () => {
  expect(messages(undefined)).toBe('is required')
})

test('a masked number keeps the country and the last four digits', () => {
  expect(maskPhone('+233241234567')).toBe('+233*****4567')
})
