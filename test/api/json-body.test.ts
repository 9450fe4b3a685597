import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bodyText, checkReserved, fieldsOf, scan } from '../../shared/api/json-body.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { granted, refused } from '../support/refused.ts'
import { rowsOf } from '../support/rows.ts'

const malformed = (reason: string) => ({ code: '400/1400', details: [reason] })
const invalid = (field: string, message: string) => ({
  code: '422/1007',
  details: { [field]: [message] },
})
const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64')

test.each([undefined, null, ''])('a missing body (%j) is 400/1400', (body) => {
  for (const isBase64 of [false, true]) {
    expect(refused(bodyText(body, isBase64))).toEqual(malformed('body is required'))
  }
})

test.each([
  ['mixed letters', '{"narration":"Nyansapɔ \u{1F600}"}'],
  ['64 KiB of letters', 'a'.repeat(64 * 1024)],
  ['64 KiB of letters of two bytes', '\u{E9}'.repeat(32 * 1024)],
])('a body of %s is read as text or base64, and has at most 64 KiB', (_, text) => {
  expect([bodyText(text, false), bodyText(base64(text), true)]).toEqual([text, text])
  const longer = text.padEnd(text.length + 64 * 1024, 'a').slice(0, 64 * 1024 + 1)
  for (const result of [bodyText(longer, false), bodyText(base64(longer), true)]) {
    expect(refused(result)).toEqual(malformed('body too large'))
  }
})

const notUtf8 = rowsOf(`
    7b22ff227d        a byte that never occurs
    7b22c0af227d      an overlong slash
    7b22eda080227d    a surrogate
    7b22f4908080227d  beyond the last code point
    7b22c3            a character cut short
    fffe7b007d00      UTF-16
  `)

test.each(notUtf8)('a body must be UTF-8: %s is %s', (hex) => {
  const body = base64(Buffer.from(hex, 'hex'))
  expect(refused(bodyText(body, true))).toEqual(malformed('body must be UTF-8'))
})

test.each([
  ...['{"amount":01.00}', '{"amount":+1.00}', '{"amount":.50}', '{"amount":1.}', '{"amount":NaN}'],
  ...['{"amount":0x10}', '{"amount":1_000.00}', '{"amount":１.00}', "{'amount':1.00}", '{a:1.00}'],
  ...['{"amount":1.00 /* GHS */}', '{"a":"\\x41"}', '{"a":"\\u12"}', '{"a":"b', '{"a\tb":1}'],
  ...['{"a":undefined}', '{} x', '<a/>', granted(bodyText(base64('\u{FEFF}{}'), true))],
])('an invalid JSON text is 400/1400: %s', (text) => {
  expect(refused(scan(text))).toEqual(malformed('body must be JSON'))
})

const duplicates = rowsOf(String.raw`
  amount  {"amount":1.00,"amount":2.00}     {"amount":1.00,"\u0061mount":2.00}
  a       {"metadata":{"a":1,"b":2,"a":3}}  {"metadata":{"list":[{"a":1,"\u0061":2}]}}
`).flatMap(([key = '', ...texts]) => texts.map((text) => [text, key] as const))

test.each([...duplicates, ['{"":1,"":2}', ''] as const])('no key is repeated: %s', (...row) => {
  expect(refused(scan(row[0]))).toEqual(malformed(`duplicate key in body: ${row[1]}`))
})

const checkKeys = (text: string) =>
  checkReserved(text, granted(scan(text)), { wrapper: 'debit_request' })

const reserved = rowsOf(String.raw`
  body      {"__proto__":{"admin":true}}  {"constructor":{}}
  body      {"prototype":1}               {"debit_request":{"constructor":1}}
  metadata  {"metadata":{"__proto__":{"admin":true}}}   {"metadata":{"constructor":{}}}
  metadata  {"metadata":{"a":[{"b":{"prototype":1}}]}}  {"metadata":{"\u005f_proto__":{}},"a":1}
  metadata  {"debit_request":{"metadata":{"prototype":1}}}
`).flatMap(([field, ...texts]) => texts.map((text) => [text, field] as const))

test.each(reserved)('a key that reaches a prototype is 422/1007: %s names %s', (text, field) => {
  const { code, details } = refused(checkKeys(text))
  const entries = Object.entries(details as object)
  expect([code, entries]).toEqual(['422/1007', [[field, ['must not contain reserved keys']]]])
})

test('a reserved key outside a JSON object is 400/1400, and a reserved value is accepted', () => {
  for (const text of ['[{"__proto__":1}]', '{"__proto__":1']) {
    expect(refused(checkKeys(text)).code).toBe('400/1400')
  }
  expect(checkKeys('{"narration":"__proto__","metadata":{"a":"constructor"}}')).toBeUndefined()
})

test('a body is nested at most 32 levels deep', () => {
  const arrays = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  for (const nested of [arrays, objects]) {
    granted(scan(nested(32)))
    for (const depth of [33, 10_000]) {
      expect(refused(scan(nested(depth)))).toEqual(malformed('body is nested too deeply'))
    }
  }
  const numbers = `{"a":${'['.repeat(31)}${'1,'.repeat(32_000)}1${']'.repeat(31)}}`
  expect(granted(scan(numbers)).numbers).toHaveLength(32_001)
})

test('`scan` returns the text and the path of every number', () => {
  const text = '{"amount":100.00,"b":{"c":[1e2,{"d":-0.0},[3]]},"b.c":4,"e":"5.00","a":{"f":10.50}}'
  const { numbers } = granted(scan(text))
  expect(numbers.map(({ path, text }) => [path, text])).toEqual([
    [['amount'], '100.00'],
    [['b', 'c', 0], '1e2'],
    [['b', 'c', 1, 'd'], '-0.0'],
    [['b', 'c', 2, 0], '3'],
    [['b.c'], '4'],
    [['a', 'f'], '10.50'],
  ])
})

test('`scan` accepts or rejects any sequence of tokens without throwing', () => {
  const texts = ['"a"', '"\\u0061"', '"\t"', '"__proto__"', '1.00', 'null']
  const tokens = fc.constantFrom(...'{}[]:,', ...texts)
  fc.assert(
    fc.property(fc.array(tokens), (parts) => {
      const result = scan(parts.join(''))
      if (result instanceof Refusal) expect([400, 422]).toContain(result.http)
      else expect(result.numbers).toBeInstanceOf(Array)
    }),
  )
})

const fields = (text: string, decimal = 'amount', wrapper: string | undefined = 'debit_request') =>
  fieldsOf(JSON.parse(text), granted(scan(text)).numbers, {
    names: [decimal, 'metadata'],
    decimals: [decimal],
    ...(wrapper && { wrapper }),
  })

const bodies = rowsOf(`
  {"amount":100.00,"a":1}                    {"amount":"100.00","a":1}
  {"amount":100.0,"a":1.50}                  {"amount":"100.0","a":1.5}
  {"amount":1e2}                             {"amount":"1e2"}
  {"amount":9007199254740993.00}             {"amount":"9007199254740993.00"}
  {"amount":"100.00"}                        {"amount":"100.00"}
  {"amount":null}                            {"amount":null}
  {"amount":[100.00]}                        {"amount":[100]}
  {"amount":{"amount":100.00}}               {"amount":{"amount":100}}
  {"metadata":{"amount":100.00}}             {"metadata":{"amount":100}}
  {"amount":1.00,"id":[9007199254740993]}    {"amount":"1.00","id":[9007199254740992]}
  {"debit_request":{"amount.a":1e-400}}      {"amount.a":0}
  {}                                         {}
  {"debit_request":{"amount":100.00,"a":1}}  {"amount":"100.00","a":1}
  {"debit_request":{}}                       {}
`)

test.each(bodies)('the fields of %s are %s, with the text of the amount', (text, expected) => {
  expect(fields(text)).toEqual(JSON.parse(expected))
})

const changed = rowsOf(`
  metadata  {"metadata":{"id":9007199254740993}}     {"metadata":{"l":[{"a":9007199254740993},{"a":1}]}}
  metadata  {"metadata":{"l":[9007199254740993,1]}}  {"metadata":{"a.b":9007199254740993,"a":{"b":1}}}
  metadata  {"metadata":{"l":[1,9007199254740993]}}  {"metadata.l":1,"metadata":{"l":1e400}}
  metadata  {"debit_request":{"metadata":{"l":[1e400,1]}}}
`).flatMap(([field = '', ...texts]) => texts.map((text) => [text, field] as const))

test.each(changed)('the body %s is 422/1007: parsing changes a number in %s', (text, field) => {
  const message = 'contains a number that cannot be stored exactly'
  expect(refused(fields(text))).toEqual(invalid(field, message))
})

test.each(['null', '[]', '"x"', '1', 'true'])('a body or wrapper is an object, not %s', (text) => {
  expect(refused(fields(text))).toEqual(malformed('body must be a JSON object'))
  const wrapped = fields(`{"debit_request":${text}}`)
  expect(refused(wrapped)).toEqual(invalid('debit_request', 'must be an object'))
})

test('the fields are inside the wrapper or at the top level, not both', () => {
  const reason = 'fields must be inside debit_request or at the top level, not both'
  const both = fields('{"debit_request":{"amount":1.00},"currency":"GHS"}')
  expect(refused(both)).toEqual(malformed(reason))
})

test('an operation without a wrapper treats debit_request as a field', () => {
  const parsed = fields('{"debit_request":{"fee":1.50},"fee":0.50}', 'fee', '')
  expect(parsed).toEqual({ debit_request: { fee: 1.5 }, fee: '0.50' })
})
