/**
 * Lists the paths and queries that a client may have signed (docs/api.md#request-signing). API Gateway
 * passes the query only as decoded pairs, grouped by key, so the encodings of common clients are tried
 * in all possible orders. Every candidate decodes to the received pairs, so no other value is accepted.
 */

type Pair = readonly [key: string, value: string]

type Encoder = (text: string) => string

const UNRESERVED = /[A-Za-z0-9]/

const inHex = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`

/** Percent-encodes all but letters, digits and `safe`. */
const percent = (safe: string, space: '%20' | '+' = '%20'): Encoder => {
  const bytes = Array.from({ length: 256 }, (_, byte) => {
    const character = String.fromCharCode(byte)
    if (character === ' ') return safe.includes(' ') ? ' ' : space
    const isPlain = byte < 0x80 && (UNRESERVED.test(character) || safe.includes(character))
    return isPlain ? character : inHex(byte)
  })
  return (text) => Array.from(Buffer.from(text, 'utf8'), (byte) => bytes[byte]).join('')
}

const encodeAll: Encoder = (text) => Array.from(Buffer.from(text, 'utf8'), inHex).join('')

const identity: Encoder = (text) => text

const strict = percent('-_.~')

/** Characters that a WHATWG URL parser does not encode in a query. */
const URL_QUERY_SAFE = '!$%&()*+,-./:;=?@[\\]^_`{|}~'

/** Encoders of keys and values with upper-case hex, the most common first. */
const upperCaseEncoders: readonly (readonly [key: Encoder, value: Encoder])[] = [
  percent("-_.!~*'()"), // JavaScript's encodeURIComponent
  percent('*-._', '+'), // URLSearchParams, Java's URLEncoder, Rust, Ruby
  strict, // RFC 3986: curl, PHP and Guzzle, .NET's EscapeDataString, AWS
  percent('-_.~', '+'), // Python's urlencode, Go, Ruby's CGI
  identity,
  percent(URL_QUERY_SAFE),
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

/** Returns the distinct encodings of all pairs; an empty value is written with and without `=`. */
const encodings = (pairs: readonly Pair[]): string[][] => {
  const distinct = new Map<string, string[]>()
  for (const [key, value] of encoders) {
    const full = pairs.map((pair) => `${key(pair[0])}=${value(pair[1])}`)
    const bare = full.map((text, index) => (pairs[index]?.[1] === '' ? text.slice(0, -1) : text))
    for (const parts of [full, bare]) {
      const isSame = parts.every((text, index) => decodesTo(text, pairs[index] ?? ['', '']))
      if (isSame) distinct.set(parts.join('&'), parts)
    }
  }
  return [...distinct.values()]
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
  const encoded = encodings(pairs)
  for (const order of orders(groupsOf(pairs))) {
    for (const ending of ['', '&']) {
      for (const parts of encoded) yield `?${order.map((index) => parts[index]).join('&')}${ending}`
    }
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
