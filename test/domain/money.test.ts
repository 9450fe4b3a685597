import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { Amount, amountNumber, Fee, formatAmount, pesewas } from '../../shared/domain/money.ts'
import { money } from '../../shared/operator/options.ts'
import { rowsOf } from '../support/rows.ts'
import { messagesOf } from './messages-of.ts'

const parsed = rowsOf(`
  amount  1.00                  100
  amount  10000.00              1000000
  fee     0                     0
  fee     -0                    0
  fee     -0.000                0
  fee     0.5                   50
  fee     0.05                  5
  fee     100000.00             10000000
  fee     0.30000000000000004   30
  fee     0.005                 0
  fee     0.015                 2
  fee     0.025                 2
  fee     0.0250000             2
  fee     0.0250000001          3
  fee     0.0249999999          2
  fee     0.995                 100
  fee     99999999999.99        9999999999999
  fee     99999999999.995       9999999999999
  fee     99999999999999999.00  9999999999999
  payout  2000000000.00         200000000000
  payout  99999999999.99        9999999999999
`)

const schemas: Record<string, v.GenericSchema> = { amount: Amount, fee: Fee, payout: money }
const schemaOf = (kind: string) => schemas[kind] ?? v.never()

test.each(parsed)('the %s %s is %s pesewas', (kind, text, count) => {
  expect(v.parse(schemaOf(kind), text)).toBe(Number(count))
})

const PLACES = 'must have exactly 2 decimal places; write 100.00 or "100.00"'

const refused = rowsOf(`
  amount  must be greater than or equal to 1.00          "-5.00"  "-0.00"  "0.00"  "0.99"  "-9007199254740993.00"
  amount  must not exceed 10000.00 GHS                   "10000.01"  "99999.00"  "9007199254740993.00"
  amount  is required                                    null
  amount  must be a decimal with exactly 2 decimal places  100  true  ["100.00"]  {"value":"100.00"}
  amount  ${PLACES}  "1"  "1."  ".50"  "1.5"  "1.000"  "1.005"  "1e2"  "1.00e2"  "01.00"  "+1.00"  ""
  amount  ${PLACES}  "1,000.00"  "1_000.00"  "0x10.00"  "NaN"  "１00.00"  " 1.00"  "1.00\\n"
  fee     must be a decimal of zero or more              "-0.01"  "-0.001"  "-0."  "-1"  "1e2"  "01.00"  "1."  ".5"  "abc"  ""
  fee     must be a decimal                              5  true  null  {}
  payout  must be an amount like 500.00                  "-1.00"  "1"  "01.00"  "1.000"  "100000000000.00"
`).flatMap(([kind = '', message = '', ...inputs]) =>
  inputs.map((input) => [kind, input, message] as const),
)

test.each(refused)('the %s %s is refused: it %s', (kind, input, message) => {
  expect(messagesOf(schemaOf(kind), JSON.parse(input))).toEqual(message.split('; '))
})

test('only a decimal with two places is an amount', () => {
  const unit = fc.constantFrom(...'0123456789.-+eE ')
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 8 }), (text) => {
      fc.pre(!/^-?(0|[1-9][0-9]*)\.[0-9]{2}$/.test(text))
      expect(messagesOf(Amount, text)).toEqual(PLACES.split('; '))
    }),
  )
})

test('`formatAmount` and `Amount` are inverse from 1.00 to 10000.00', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 1_000_000 }), (count) => {
      expect(v.parse(Amount, formatAmount(pesewas(count)))).toBe(count)
    }),
  )
})

test.each([
  [0, '0.00'],
  [5, '0.05'],
  [10050, '100.50'],
  [-5, '-0.05'],
  [-12345, '-123.45'],
])('an amount of %s pesewas is %s as text and as a JSON number', (count, text) => {
  expect(formatAmount(pesewas(count))).toBe(text)
  expect(JSON.stringify({ amount: amountNumber(pesewas(count)) })).toBe(`{"amount":${text}}`)
})

test.each([0.5, Number.NaN, 2 ** 53])('a number of pesewas is whole, not %s', (count) => {
  expect(() => pesewas(count)).toThrow()
})
