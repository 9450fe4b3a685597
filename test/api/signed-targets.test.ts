import fc from 'fast-check'
import { expect, test } from 'vitest'
import { signedTargets } from '../../shared/api/signed-targets.ts'

const PATH = '/api/v1/payment-providers/banks'

type Pair = [key: string, value: string]

/** Returns the pairs of a query as API Gateway passes them: decoded and grouped by key. */
const received = (query: string): Pair[] => {
  const pairs = [...new URLSearchParams(query)]
  return [...Map.groupBy(pairs, ([key]) => key).values()].flat()
}

const targets = (pairs: readonly Pair[], { paths = [PATH], bodyBytes = 0 } = {}): string[] => [
  ...signedTargets({ paths, pairs, bodyBytes }),
]

/** Returns whether a signature over `signed` is accepted with the query `sent`. */
const isAccepted = (signed: string, sent = signed): boolean =>
  targets(received(sent)).includes(PATH + signed)

test.each([
  ...['', '?', '?page=1&per_page=5', '?x=a%20b', '?x=a+b', '?x=%C3%A9', '?x=%c3%a9', '?x=a,b'],
  ...['?x=a%2Cb', '?x=%2e', '?x=%2E', '?x=%7E', '?x=~', '?a=1&b=2&a=3', '?a=3&a=1&b=2', '?a'],
  ...['?a=', '?a&b=1', '?a=1&', '?b=2&a=1&', '?phone_number=%2B233241234567'],
  ...['?created_from=2026-11-21T10%3A00%3A00Z&created_to=2026-11-22T10%3A00%3A00Z'],
  ...['?cursor=MjAyNi0xMS0yMg%3D%3D&per_page=5', '?cursor=MjAyNi0xMS0yMg==&per_page=5'],
  ...['?status[]=pending'],
  // Encoded values next to literal ones.
  ...['?partner_reference=order%2F1%2042&created_from=2026-11-21T10:00:00Z'],
  ...['?created_from=2026-11-21T10:00:00Z&created_to=2026-12-21T10%3A00%3A00Z'],
  ...['?created_to=2026-12-21T10%3A00%3A00Z&created_from=2026-11-21T10:00:00Z&status=failed&'],
  ...['?a=x+y&b=x%20y', '?a=x,y&a=x%2Cy&a=x,y', '?a=%C3%A9%2C&b=:&c=:&d=%3A&per_page=5'],
])('a signature over the query as sent is accepted: "%s"', (query) => {
  expect(isAccepted(query)).toBe(true)
})

/** The encoders of common clients, implemented a second time. */
const hex = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
const encode = encodeURIComponent
const plus = (text: string) => text.replaceAll('%20', '+')
const strict = (text: string) => encode(text).replace(/[!'()*]/g, (one) => hex(one).toUpperCase())
const form = (text: string) => new URLSearchParams([['', text]]).toString().slice(1)
const lower = (text: string) => text.replace(/%../g, (byte) => byte.toLowerCase())
const dotNet = (text: string) => plus(encode(text)).replaceAll('~', '%7E').replaceAll("'", '%27')

const clients: Record<string, (text: string) => string> = {
  encodeURIComponent: encode,
  'URLSearchParams, Java': form,
  'RFC 3986, curl, Guzzle': strict,
  'Python urlencode, Go': (text) => plus(strict(text)),
  'Python quote': (text) => strict(text).replaceAll('%2F', '/'),
  PHP: (text) => plus(strict(text)).replaceAll('~', '%7E'),
  '.NET WebUtility': dotNet,
  '.NET HttpUtility': (text) => lower(dotNet(text)),
  axios: (text) => plus(encode(text)).replace(/%(3A|24|2C)/g, decodeURIComponent),
  Angular: (text) => encode(text).replace(/%(40|3A|24|2C|3B|3D|3F|2F)/g, decodeURIComponent),
  'encodeURIComponent in lower case': (text) => lower(encode(text)),
  'form in lower case': (text) => lower(form(text)),
  'strict in lower case': (text) => lower(strict(text)),
  everything: (text) => hex(text).toUpperCase(),
  'everything in lower case': hex,
}

const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('pending', '20', '+233241234567', '2026-11-21T10:00:00Z', 'a b', 'é', "~*'()!"),
)
const keys = fc.oneof(
  fc.constantFrom('status', 'page', 'per_page', 'cursor'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }),
)
/** Lone surrogates have no UTF-8. */
const queries = fc
  .array(fc.tuple(keys, texts), { minLength: 1, maxLength: 4 })
  .filter((pairs) => pairs.flat().every((text) => text.isWellFormed()))

test.each(Object.entries(clients))('any signed query of %s is accepted', (_name, encodeText) => {
  fc.assert(
    fc.property(queries, fc.boolean(), fc.boolean(), (pairs, isBare, isLong) => {
      const encoded = pairs.map(([key, value]) =>
        isBare && value === '' ? encodeText(key) : `${encodeText(key)}=${encodeText(value)}`,
      )
      expect(isAccepted(`?${encoded.join('&')}${isLong ? '&' : ''}`)).toBe(true)
    }),
  )
})

test.each([
  ['?page=1', '?page=2'],
  ['?page=1', '?page=1&status=failed'],
  ['?page=1&status=failed', '?page=1'],
  ['?a=1&b=2', '?a=1%26b=2'],
  ['?a=1%26b%3D2', '?a=1&b=2'],
  ['?a=b+c', '?a=b%2Bc'],
  ['?a=%2e', '?a=%252e'],
  ['?a=1&a=2', '?a=2&a=1'],
  ['?a', '?a=1'],
  ['', '?a'],
  ['?a', ''],
  ['?A=1', '?a=1'],
])('a signature over "%s" is rejected for "%s"', (signed, sent) => {
  expect(isAccepted(signed, sent)).toBe(false)
})

test('every candidate decodes to the received pairs, so no other query is accepted', () => {
  fc.assert(
    fc.property(queries, (pairs) => {
      const grouped = [...Map.groupBy(pairs, ([key]) => key).values()].flat()
      for (const target of targets(grouped)) {
        expect(received(target.slice(PATH.length)).toSorted()).toEqual(grouped.toSorted())
      }
    }),
    { numRuns: 30 },
  )
})

const many = (count: number): Pair[] =>
  Array.from({ length: count }, (_, index) => [`parameter-${index}`, 'é ~'])

test('the path without the stage precedes the path with it, both undecoded', () => {
  const paths = ['/lookup/%2B233', '/production/lookup/%2B233']
  expect(targets([], { paths })).toEqual([...paths, ...paths.map((path) => `${path}?`)])
})

test('the most common encoding in the received order is first', () => {
  const pairs: Pair[] = [['b', 'x y']]
  expect(targets([...pairs, ['a', '1']])[0]).toBe(`${PATH}?b=x%20y&a=1`)
})

test('a query has at most 2,000 distinct candidates, fewer for a large body', () => {
  const candidates = targets(many(7))
  expect([candidates.length, new Set(candidates).size]).toEqual([2_000, 2_000])
  expect(targets(many(7), { bodyBytes: 65_536 }).length).toBeLessThan(130)
})

test('a query with more than 20 parameters has no candidates', () => {
  expect(targets(many(21))).toEqual([])
  expect(targets(many(20)).length).toBeGreaterThan(100)
})

test('a long mixed query in the received order precedes other orders', () => {
  const query = Array.from({ length: 6 }, (_, index) => `${index}=a${index % 2 ? ':' : '%3A'}b`)
  expect(isAccepted(`?${query.join('&')}`)).toBe(true)
})

test('the candidates of any query are listed fast', () => {
  const start = process.cpuUsage()
  for (const value of ['é'.repeat(500), '%'.repeat(500), "~!*'()".repeat(80)]) {
    targets(Array.from({ length: 20 }, (_, index): Pair => [`${index}`, value]))
    targets(Array.from({ length: 20 }, (_, index): Pair => [`${index % 2}`, value]))
  }
  expect(process.cpuUsage(start).user).toBeLessThan(3_000_000)
})
