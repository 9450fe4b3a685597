import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isMistyped, looksIssued, RANDOM_BYTES, tokenOf } from '../../shared/domain/token.ts'

const random = fc.uint8Array({ minLength: RANDOM_BYTES, maxLength: RANDOM_BYTES })
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const read = (text: string): number =>
  [...text].reduce((sum, digit) => sum * 62 + DIGITS.indexOf(digit), 0)

test.each([
  ['provider', 'production', /^sk_live_[0-9A-Za-z]{39}$/],
  ['provider', 'sandbox', /^sk_test_[0-9A-Za-z]{39}$/],
  ['bank', 'production', /^bt_live_[0-9A-Za-z]{39}$/],
  ['bank', 'sandbox', /^bt_test_[0-9A-Za-z]{39}$/],
] as const)('a %s token of %s shows its kind and use, and ends with its CRC-32', (...row) => {
  const [kind, use, pattern] = row
  fc.assert(
    fc.property(random, random, (bytes, others) => {
      const token = tokenOf(kind, use, bytes)
      expect(token).toMatch(pattern)
      expect(read(token.slice(-6))).toBe(crc32(token.slice(0, -6)))
      expect(isMistyped(token)).toBe(false)
      expect(tokenOf(kind, use, others) === token).toBe(Buffer.from(bytes).equals(others))
    }),
  )
})

test('a token with a replaced character is detected', () => {
  const place = fc.integer({ min: 8, max: 46 })
  fc.assert(
    fc.property(random, place, fc.constantFrom(...DIGITS), (bytes, at, digit) => {
      const token = tokenOf('provider', 'production', bytes)
      const typed = token.slice(0, at) + digit + token.slice(at + 1)
      expect(isMistyped(typed)).toBe(typed !== token)
    }),
  )
})

test.each([
  ['', false],
  ['sk_sandbox_demo', false],
  ['whsec_x', false],
  ['sk_live_x', true],
  ['bt_test_x', true],
])('the text %j is not a mistyped token, and looks issued: %s', (token, looks) => {
  expect(isMistyped(token)).toBe(false)
  expect(looksIssued(token)).toBe(looks)
})
