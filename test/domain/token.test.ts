import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isMistyped, looksIssued, RANDOM_BYTES, tokenOf } from '../../shared/domain/token.ts'

const random = fc.uint8Array({ minLength: RANDOM_BYTES, maxLength: RANDOM_BYTES })
const kind = fc.constantFrom('provider', 'bank')
const use = fc.constantFrom('production', 'sandbox')

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const read = (text: string): number =>
  [...text].reduce((sum, digit) => sum * 62 + DIGITS.indexOf(digit), 0)

describe('issued tokens', () => {
  test('a token shows its kind and use: sk_live_ and bt_live_ in production only', () => {
    const bytes = new Uint8Array(RANDOM_BYTES)
    expect(tokenOf('provider', 'production', bytes)).toMatch(/^sk_live_[0-9A-Za-z]{39}$/)
    expect(tokenOf('provider', 'sandbox', bytes)).toMatch(/^sk_test_[0-9A-Za-z]{39}$/)
    expect(tokenOf('bank', 'production', bytes)).toMatch(/^bt_live_[0-9A-Za-z]{39}$/)
    expect(tokenOf('bank', 'sandbox', bytes)).toMatch(/^bt_test_[0-9A-Za-z]{39}$/)
  })

  test('a token ends with its CRC-32 in base 62', () => {
    fc.assert(
      fc.property(kind, use, random, (kind, use, bytes) => {
        const token = tokenOf(kind, use, bytes)
        expect(read(token.slice(-6))).toBe(crc32(token.slice(0, -6)))
        expect(isMistyped(token)).toBe(false)
      }),
    )
  })

  test('other bytes make another token', () => {
    fc.assert(
      fc.property(random, random, (one, other) => {
        const same = Buffer.from(one).equals(other)
        expect(tokenOf('bank', 'sandbox', one) === tokenOf('bank', 'sandbox', other)).toBe(same)
      }),
    )
  })
})

describe('mistyped tokens', () => {
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

  test('a token with swapped characters or another use is detected', () => {
    const token = tokenOf('provider', 'sandbox', new Uint8Array(RANDOM_BYTES).fill(7))
    const [one = '', other = ''] = token.slice(20, 22)
    expect(one).not.toBe(other)
    expect(isMistyped(token.slice(0, 20) + other + one + token.slice(22))).toBe(true)
    expect(isMistyped(token.replace('test', 'live'))).toBe(true)
  })

  const others = ['', 'sk_sandbox_demo', 'bt_sandbox_gcb', 'sk_test_short', 'whsec_x']
  test.each(others)('the text %j is not a mistyped token', (token) => {
    expect(isMistyped(token)).toBe(false)
  })

  test('tokens that a sandbox sets by hand do not look like issued ones', () => {
    expect(looksIssued('sk_sandbox_demo')).toBe(false)
    expect(looksIssued('sk_live_x')).toBe(true)
    expect(looksIssued('bt_test_x')).toBe(true)
  })
})
