/**
 * Lists the paths and queries that a client may have signed (docs/api.md#request-signing). API Gateway
 * passes the query only as decoded pairs, grouped by key, so the encodings of common clients and their
 * mixtures are tried in all possible orders. Every candidate decodes to the received pairs, so no other
 * value is accepted.
 */

type Pair = readonly [key: string, value: string]

type Encoder = (text: string) => string

const UNRESERVED = /[A-Za-z0-9]/

const inHex = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`

/** Percent-encodes all but letters, digits and `safe`; writes a space as `space`. */
const percent = (safe: string, space: '%20' | '+' = '%20'): Encoder => {
  const bytes = Array.from({ length: 256 }, (_, byte) => {
    const character = String.fromCharCode(byte)
    if (character === ' ') return space
    const isPlain = byte < 0x80 && (UNRESERVED.test(character) || safe.includes(character))
    return isPlain ? character : inHex(byte)
  })
  return (text) => Array.from(Buffer.from(text, 'utf8'), (byte) => bytes[byte]).join('')
}

const encodeAll: Encoder = (text) => Array.from(Buffer.from(text, 'utf8'), inHex).join('')

const identity: Encoder = (text) => text

const strict = percent('-_.~')
const component = percent("-_.!~*'()")
const form = percent('*-._', '+')
/** Encodes what a WHATWG URL parser encodes in a query. */
const literal = percent('!$%&()*+,-./:;=?@[\\]^_`{|}~')

/** Encoders of keys and values with upper-case hex, the most common first. */
const upperCaseEncoders: readonly (readonly [key: Encoder, value: Encoder])[] = [
  component, // JavaScript's encodeURIComponent
  form, // URLSearchParams, Java's URLEncoder, Rust, Ruby
  strict, // RFC 3986: curl, PHP and Guzzle, .NET's EscapeDataString, AWS
  percent('-_.~', '+'), // Python's urlencode, Go, Ruby's CGI
  identity,
  literal,
  percent('-_.~/'), // Python's quote
  percent('-_.', '+'), // PHP's urlencode and http_build_query
  percent('-_.!*()', '+'), // .NET's UrlEncode; HttpUtility has lower case
  percent("-_.!~*'():$,", '+'), // axios
  percent("-_.!~*'():$,[]", '+'), // axios before 1.0
  percent("-_.!~*'()@:$,;=?/"), // Angular
  percent('*-._'), // OkHttp
  percent(''),
  encodeAll,
]
  .map((encoder) => [encoder, encoder] as const)
  .concat([[strict, encodeAll]])

const withLowerCase = (encoder: Encoder): Encoder => {
  return (text) => encoder(text).replaceAll(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase())
}

const encoders = [
  ...upperCaseEncoders,
  ...upperCaseEncoders.map(([key, value]) => [withLowerCase(key), withLowerCase(value)] as const),
]

const decodesTo = (encoded: string, [key, value]: Pair): boolean => {
  const [pair, ...others] = new URLSearchParams(encoded)
  return others.length === 0 && pair?.[0] === key && pair[1] === value
}

/** Returns the distinct encodings of all pairs by one encoder; an empty value is written with and without `=`. */
const encodings = (pairs: readonly Pair[]): Map<string, string[]> => {
  const distinct = new Map<string, string[]>()
  for (const [key, value] of encoders) {
    const full = pairs.map((pair) => `${key(pair[0])}=${value(pair[1])}`)
    const bare = full.map((text, index) => (pairs[index]?.[1] === '' ? text.slice(0, -1) : text))
    for (const parts of [full, bare]) {
      const isSame = parts.every((text, index) => decodesTo(text, pairs[index] ?? ['', '']))
      if (isSame) distinct.set(parts.join('&'), parts)
    }
  }
  return distinct
}

/** Returns the usual encodings of a pair, for callers that encode some pairs and write others literally. */
const choices = (pair: Pair): string[] => {
  const texts = [component, form, literal].map((encode) => pair.map(encode).join('='))
  return [...new Set(texts)].filter((text) => decodesTo(text, pair))
}

function* mixtures([first, ...others]: readonly string[][]): Generator<string[]> {
  if (!first) yield []
  else for (const rest of mixtures(others)) for (const text of first) yield [text, ...rest]
}

/** Yields the possible orders of the pairs, the received order first. Pairs of one key keep their order. */
function* orders(groups: readonly (readonly number[])[]): Generator<number[]> {
  if (groups.every(({ length }) => length === 0)) yield []
  for (const [index, [first, ...others]] of groups.entries()) {
    if (first === undefined) continue
    const rest = groups.map((group, position) => (position === index ? others : group))
    for (const order of orders(rest)) yield [first, ...order]
  }
}

const groupsOf = (pairs: readonly Pair[]): number[][] => [
  ...Map.groupBy(pairs.keys(), (index) => pairs[index]?.[0]).values(),
]

function* queries(pairs: readonly Pair[]): Generator<string> {
  if (pairs.length === 0) {
    yield ''
    yield '?'
    return
  }
  const uniform = encodings(pairs)
  const chosen = pairs.map(choices)
  const mixed = () => mixtures(chosen).filter((parts) => !uniform.has(parts.join('&')))
  const all = () => orders(groupsOf(pairs))
  for (const some of [() => all().take(1), () => all().drop(1)]) {
    for (const texts of [() => uniform.values(), mixed]) {
      for (const order of some()) yield* inOrder(order, texts)
    }
  }
}

function* inOrder(order: readonly number[], texts: () => Iterable<string[]>): Generator<string> {
  for (const ending of ['', '&']) {
    for (const parts of texts()) yield `?${order.map((index) => parts[index]).join('&')}${ending}`
  }
}

/** No operation has this many parameters. */
const PAIRS_MAX = 20
/** Covers five parameters in any order, within milliseconds. */
const TARGETS_MAX = 2_000
/** Each candidate is hashed together with the body. */
const HASHED_BYTES_MAX = 8 * 1024 * 1024

type SignedRequestParts = {
  /** Encoded. */
  paths: readonly string[]
  pairs: readonly Pair[]
  bodyBytes: number
}

/** Yields path and query, the most likely encoding first. */
export function* signedTargets({ paths, pairs, bodyBytes }: SignedRequestParts): Generator<string> {
  if (pairs.length > PAIRS_MAX) return
  const distinct = new Set(paths)
  let [targets, bytes] = [0, 0]
  for (const query of queries(pairs)) {
    for (const path of distinct) {
      if (targets === TARGETS_MAX || bytes > HASHED_BYTES_MAX) return
      targets += 1
      bytes += path.length + query.length + bodyBytes
      yield path + query
    }
  }
}
