import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bodyText, checkReserved, fieldsOf, scan } from '../../shared/api/json-body.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { granted, refused } from '../support/refused.ts'
import { rowsOf } from '../support/rows.ts'

const malformed = (reason: string) => ({ code: '400/1400', details: [reason] })
const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64')

describe('the text of a body', () => {
  test.each([null, ''])('is required: %j', (body) => {
    expect(refused(bodyText(body, false))).toEqual(malformed('body is required'))
    expect(refused(bodyText(body, true))).toEqual(malformed('body is required'))
  })

  test('is what came, as text or in base64', () => {
    const text = '{"narration":"Nyansapɔ \u{1F600}"}'
    expect(bodyText(text, false)).toBe(text)
    expect(bodyText(base64(text), true)).toBe(text)
  })

  test.each([
    ['letters', 'a', 64 * 1024],
    ['letters of two bytes', '\u{E9}', 32 * 1024],
  ])('may reach 64 KiB and not exceed it, in %s', (_what, letter, count) => {
    const whole = letter.repeat(count)
    expect(bodyText(whole, false)).toBe(whole)
    expect(bodyText(base64(whole), true)).toBe(whole)
    const over = malformed('body too large')
    expect(refused(bodyText(`${whole}a`, false))).toEqual(over)
    expect(refused(bodyText(base64(`${whole}a`), true))).toEqual(over)
  })

  const notUtf8 = rowsOf(`
    7b22ff227d        a byte that never occurs
    7b22c0af227d      an overlong slash
    7b22eda080227d    a surrogate
    7b22f4908080227d  beyond the last code point
    7b22c3            a character cut short
    fffe7b007d00      UTF-16
  `)

  test.each(notUtf8)('must be UTF-8: %s is %s', (hex) => {
    const body = base64(Buffer.from(hex, 'hex'))
    expect(refused(bodyText(body, true))).toEqual(malformed('body must be UTF-8'))
  })

  test('may not begin with a byte order mark', () => {
    const marked = granted(bodyText(base64('\u{FEFF}{}'), true))
    expect(refused(scan(marked))).toEqual(malformed('body must be JSON'))
  })
})

const notJson = [
  '{"amount":01.00}',
  '{"amount":+1.00}',
  '{"amount":.50}',
  '{"amount":1.}',
  '{"amount":NaN}',
  '{"amount":0x10}',
  '{"amount":1_000.00}',
  '{"amount":１.00}',
  "{'amount':1.00}",
  '{amount:1.00}',
  '{"amount":1.00 /* GHS */}',
  '{"a":"\\x41"}',
  '{"a":"\\u12"}',
  '{"a":"b',
  '{"a\tb":1}',
  '{"a":undefined}',
  '{} x',
  '<a/>',
]

test.each(notJson)('what JSON does not know is 400/1400: %s', (text) => {
  expect(refused(scan(text))).toEqual(malformed('body must be JSON'))
})

describe('a key', () => {
  const twice = rowsOf(String.raw`
    {"amount":1.00,"amount":2.00}               amount
    {"amount":1.00,"\u0061mount":2.00}          amount
    {"metadata":{"a":1,"b":2,"a":3}}            a
    {"metadata":{"list":[{"a":1,"\u0061":2}]}}  a
    {"":1,"":2}
  `)

  test.each(twice)('may not stand twice in one object: %s', (text, key = '') => {
    expect(refused(scan(text))).toEqual(malformed(`duplicate key in body: ${key}`))
  })

  test('may stand in different objects', () => {
    granted(scan('{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}],"d":"a"}'))
  })

  const reserved = rowsOf(String.raw`
    {"__proto__":{"admin":true}}                 __proto__
    {"constructor":{}}                           constructor
    {"prototype":1}                              prototype
    {"metadata":{"__proto__":{"admin":true}}}    metadata
    {"metadata":{"constructor":{}}}              metadata
    {"metadata":{"a":[{"b":{"prototype":1}}]}}   metadata
    {"metadata":{"\u005f_proto__":{}},"a":1}     metadata
    {"debit_request":{"metadata":{"prototype":1}}}  metadata
    {"debit_request":{"constructor":1}}          constructor
  `)

  const judged = (text: string) =>
    checkReserved(text, granted(scan(text)), { wrapper: 'debit_request' })

  test.each(['[{"__proto__":1}]', '{"__proto__":1'])(
    'in what is no JSON object is 400/1400: %s',
    (text) => {
      expect(refused(judged(text)).code).toBe('400/1400')
    },
  )

  test.each(reserved)('that reaches a prototype is 422/1007: %s names %s', (text, field) => {
    const { code, details } = refused(judged(text))
    expect(code).toBe('422/1007')
    expect(Object.entries(details as object)).toEqual([[field, ['must not contain reserved keys']]])
  })

  test('that is reserved may be a value', () => {
    expect(judged('{"narration":"__proto__","metadata":{"a":"constructor"}}')).toBeUndefined()
  })
})

test('a body is nested 32 levels deep and no deeper', () => {
  const arrays = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  for (const nested of [arrays, objects]) {
    granted(scan(nested(32)))
    expect(refused(scan(nested(33)))).toEqual(malformed('body is nested too deeply'))
    expect(refused(scan(nested(10_000)))).toEqual(malformed('body is nested too deeply'))
  }
})

test('every number keeps its text and its own path', () => {
  const text = '{"amount":100.00,"b":{"c":[1e2,{"d":-0.0},[3]]},"b.c":4,"e":"5.00","f":10.50}'
  const { numbers } = granted(scan(text))
  expect(numbers.map(({ path, text }) => [path, text])).toEqual([
    [['amount'], '100.00'],
    [['b', 'c', 0], '1e2'],
    [['b', 'c', 1, 'd'], '-0.0'],
    [['b', 'c', 2, 0], '3'],
    [['b.c'], '4'],
    [['f'], '10.50'],
  ])
})

test('a body of 64 KiB of numbers, nested to the limit, is read', () => {
  const text = `{"a":${'['.repeat(31)}${'1,'.repeat(32_000)}1${']'.repeat(31)}}`
  expect(granted(scan(text)).numbers).toHaveLength(32_001)
})

test('whatever the order of its tokens, a text is answered', () => {
  const tokens = fc.constantFrom(
    ...'{}[]:,',
    '"a"',
    '"\\u0061"',
    '"\t"',
    '"__proto__"',
    '1.00',
    'null',
  )
  fc.assert(
    fc.property(fc.array(tokens), (parts) => {
      const result = scan(parts.join(''))
      if (result instanceof Refusal) expect([400, 422]).toContain(result.http)
      else expect(result.numbers).toBeInstanceOf(Array)
    }),
  )
})

const fields = (text: string) =>
  fieldsOf(JSON.parse(text), granted(scan(text)).numbers, {
    decimals: ['amount'],
    wrapper: 'debit_request',
  })

describe('the fields of a body', () => {
  test.each(['null', '[]', '"x"', '1', 'true'])('are those of an object, not of %s', (text) => {
    expect(refused(fields(text))).toEqual(malformed('body must be a JSON object'))
  })

  const read = rowsOf(`
    {"amount":100.00,"a":1}                    {"amount":"100.00","a":1}
    {"amount":100.0,"a":1.50}                  {"amount":"100.0","a":1.5}
    {"amount":1e2}                             {"amount":"1e2"}
    {"amount":9007199254740993.00}             {"amount":"9007199254740993.00"}
    {"amount":"100.00"}                        {"amount":"100.00"}
    {"amount":null}                            {"amount":null}
    {"amount":[100.00]}                        {"amount":[100]}
    {"amount":{"amount":100.00}}               {"amount":{"amount":100}}
    {"metadata":{"amount":100.00}}             {"metadata":{"amount":100}}
    {}                                         {}
    {"debit_request":{"amount":100.00,"a":1}}  {"amount":"100.00","a":1}
    {"debit_request":{}}                       {}
  `)

  test.each(read)('of %s are %s, the amount as it was written', (text, expected) => {
    expect(fields(text)).toEqual(JSON.parse(expected))
  })

  const changed = rowsOf(`
    {"metadata":{"id":9007199254740993}}                   metadata
    {"metadata":{"l":[9007199254740993,1]}}                metadata
    {"metadata":{"l":[1,9007199254740993]}}                metadata
    {"metadata":{"l":[{"a":9007199254740993},{"a":1}]}}    metadata
    {"metadata":{"a.b":9007199254740993,"a":{"b":1}}}      metadata
    {"metadata":{"l":[1e400,1]}}                           metadata
    {"metadata.l":1,"metadata":{"l":1e400}}                metadata
    {"debit_request":{"metadata":{"l":[1e400,1]}}}         metadata
    {"debit_request.amount":1e400}                         debit_request.amount
  `)

  test.each(changed)('%s are refused: parsing changes a number in %s', (text, field) => {
    expect(refused(fields(text))).toEqual({
      code: '422/1007',
      details: { [field]: ['contains a number that cannot be stored exactly'] },
    })
  })

  test('must be inside the wrapper or at the top level, not both', () => {
    expect(refused(fields('{"debit_request":{"amount":1.00},"currency":"GHS"}'))).toEqual(
      malformed('fields must be inside debit_request or at the top level, not both'),
    )
  })

  test.each(['null', '[]', '"x"', '1'])('do not stand in a wrapper that is %s', (value) => {
    expect(refused(fields(`{"debit_request":${value}}`))).toEqual({
      code: '422/1007',
      details: { debit_request: ['must be an object'] },
    })
  })

  test('have no wrapper where the operation has none', () => {
    const text = '{"debit_request":{"fee":1.50},"fee":0.50}'
    const known = fieldsOf(JSON.parse(text), granted(scan(text)).numbers, { decimals: ['fee'] })
    expect(known).toEqual({ debit_request: { fee: 1.5 }, fee: '0.50' })
  })
})
