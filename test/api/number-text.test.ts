import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isKeptExactly } from '../../shared/api/json-body.ts'

test.each([
  ...['0', '-0', '-0.0', '0e999', '1', '0.10', '1.0', '1E22', '123e45', '1e-7', '100e-2'],
])('the number %s keeps its value', (text) => {
  expect(isKeptExactly(text)).toBe(true)
})

test.each([
  ...['9007199254740993', '1e400', '-1e400', '1e-400', '0.1000000000000000055'],
  '10000000000000000000000001',
])('the number %s becomes another number', (text) => {
  expect(isKeptExactly(text)).toBe(false)
})

test('JSON keeps the value of every double', () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true })
  fc.assert(fc.property(finite, (value) => isKeptExactly(JSON.stringify(value))))
})

test('a whole number is kept exactly when its double is the same whole number', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (value) => {
      const shortest = BigInt(Number(value).toLocaleString('fullwide', { useGrouping: false }))
      expect(isKeptExactly(String(value))).toBe(shortest === value)
    }),
  )
})

test('a number of 64 KiB is checked in less than a second', () => {
  const start = process.cpuUsage()
  expect(isKeptExactly(`1${'0'.repeat(65_000)}1`)).toBe(false)
  expect(isKeptExactly(`0.1${'0'.repeat(65_000)}1`)).toBe(false)
  expect(process.cpuUsage(start).user).toBeLessThan(1_000_000)
})
