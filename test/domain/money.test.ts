import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { Amount, amountNumber, Fee, formatAmount, pesewas } from '../../shared/domain/money.ts'
import { rowsOf } from '../support/rows.ts'

type Decimal = typeof Amount | typeof Fee

const messages = (schema: Decimal, input: unknown): string[] =>
  v.safeParse(schema, input).issues?.map(({ message }) => message) ?? []

const acceptedAmounts = rowsOf(`
  1.00      100
  1.01      101
  50.00     5000
  100.00    10000
  250.00    25000
  9999.99   999999
  10000.00  1000000
`)

test.each(acceptedAmounts)('an amount of %s is %s pesewas', (text, count) => {
  expect(v.parse(Amount, text)).toBe(Number(count))
})

const refusedAmounts = rowsOf(`
  "100"                        must have exactly 2 decimal places; write 100.00 or "100.00"
  "100."                       must have exactly 2 decimal places; write 100.00 or "100.00"
  ".50"                        must have exactly 2 decimal places; write 100.00 or "100.00"
  "100.5"                      must have exactly 2 decimal places; write 100.00 or "100.00"
  "100.000"                    must have exactly 2 decimal places; write 100.00 or "100.00"
  "1.005"                      must have exactly 2 decimal places; write 100.00 or "100.00"
  "100.00000000000000000001"   must have exactly 2 decimal places; write 100.00 or "100.00"
  "1e2"                        must have exactly 2 decimal places; write 100.00 or "100.00"
  "1.00e2"                     must have exactly 2 decimal places; write 100.00 or "100.00"
  "1E+2"                       must have exactly 2 decimal places; write 100.00 or "100.00"
  "1e400"                      must have exactly 2 decimal places; write 100.00 or "100.00"
  "01.00"                      must have exactly 2 decimal places; write 100.00 or "100.00"
  "+1.00"                      must have exactly 2 decimal places; write 100.00 or "100.00"
  "1,000.00"                   must have exactly 2 decimal places; write 100.00 or "100.00"
  "1_000.00"                   must have exactly 2 decimal places; write 100.00 or "100.00"
  "0x10.00"                    must have exactly 2 decimal places; write 100.00 or "100.00"
  "NaN"                        must have exactly 2 decimal places; write 100.00 or "100.00"
  "１00.00"                    must have exactly 2 decimal places; write 100.00 or "100.00"
  " 100.00"                    must have exactly 2 decimal places; write 100.00 or "100.00"
  "100.00\\n"                  must have exactly 2 decimal places; write 100.00 or "100.00"
  ""                           must have exactly 2 decimal places; write 100.00 or "100.00"
  "-5.00"                      must be greater than or equal to 1.00
  "-0.00"                      must be greater than or equal to 1.00
  "0.00"                       must be greater than or equal to 1.00
  "0.50"                       must be greater than or equal to 1.00
  "0.99"                       must be greater than or equal to 1.00
  "10000.01"                   must not exceed 10000.00 GHS
  "99999.00"                   must not exceed 10000.00 GHS
  "9007199254740993.00"        must not exceed 10000.00 GHS
  null                         is required
  100                          must be a decimal with exactly 2 decimal places
  true                         must be a decimal with exactly 2 decimal places
  ["100.00"]                   must be a decimal with exactly 2 decimal places
  {"value":"100.00"}           must be a decimal with exactly 2 decimal places
`)

test.each(refusedAmounts)('an amount of %s %s', (input, message) => {
  expect(messages(Amount, JSON.parse(input))).toEqual(message?.split('; '))
})

test('a missing amount is required', () => {
  expect(messages(Amount, undefined)).toEqual(['is required'])
})

test('formatAmount and Amount are inverse from 1.00 to 10000.00', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 1_000_000 }), (count) => {
      expect(v.parse(Amount, formatAmount(pesewas(count)))).toBe(count)
    }),
  )
})

test('only a decimal with two places is an amount', () => {
  const decimal = /^-?(0|[1-9][0-9]*)\.[0-9]{2}$/
  const unit = fc.constantFrom(...'0123456789.-+eE ')
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 8 }), (text) => {
      fc.pre(!decimal.test(text))
      expect(messages(Amount, text)).toEqual([
        'must have exactly 2 decimal places',
        'write 100.00 or "100.00"',
      ])
    }),
  )
})

const written = rowsOf(`
  0         0.00
  5         0.05
  100       1.00
  10050     100.50
  1000000   10000.00
  -5        -0.05
  -12345    -123.45
`)

test.each(written)('%s pesewas are %s as text and as a JSON number', (count, text) => {
  const amount = pesewas(Number(count))
  expect(formatAmount(amount)).toBe(text)
  expect(JSON.stringify({ amount: amountNumber(amount) })).toBe(`{"amount":${text}}`)
})

test('pesewas are whole numbers', () => {
  for (const count of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    expect(() => pesewas(count)).toThrow()
  }
})

const acceptedFees = rowsOf(`
  0         0
  0.5       50
  0.50      50
  0.05      5
  1         100
  1.25      125
  10000.00  1000000
  100000.00              10000000
  0.30000000000000004    30
  0.005                  0
  0.015                  2
  0.025                  2
  0.0250000001           3
  0.0249999999           2
  0.995                  100
  99999999999999999.00   9999999999999
`)

test.each(acceptedFees)('a fee of %s is %s pesewas', (text, count) => {
  expect(v.parse(Fee, text)).toBe(Number(count))
})

const refusedFees = rowsOf(`
  "-0.01"                 must be a decimal of zero or more
  "-1"                    must be a decimal of zero or more
  "1e2"                   must be a decimal of zero or more
  "01.00"                 must be a decimal of zero or more
  "1."                    must be a decimal of zero or more
  ".5"                    must be a decimal of zero or more
  "abc"                   must be a decimal of zero or more
  ""                      must be a decimal of zero or more
  5                       must be a decimal
  true                    must be a decimal
  null                    must be a decimal
  {}                      must be a decimal
`)

test.each(refusedFees)('a fee of %s %s', (input, message) => {
  expect(messages(Fee, JSON.parse(input))).toEqual(message?.split('; '))
})
