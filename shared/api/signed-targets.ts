/**
 * The spellings of path and query that a client may have signed. API Gateway hands over the path as
 * it was sent, but the query only as decoded pairs, grouped by their keys: so the spellings of the
 * common clients are tried, in the orders that the pairs may have had. Each candidate decodes to the
 * very pairs that were received, so a signature never holds for other values.
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

const everything: Encoder = (text) => Array.from(Buffer.from(text, 'utf8'), inHex).join('')

const asItIs: Encoder = (text) => text

const strict = percent('-_.~')

/** What WHATWG leaves of a query that was written into a URL as text. */
const INSIDE_URLS = '!$%&()*+,-./:;=?@[\\]^_`{|}~'

/** For keys and for values, the most common first. */
const inCapitals: readonly (readonly [key: Encoder, value: Encoder])[] = [
  // JavaScript's encodeURIComponent.
  percent("-_.!~*'()"),
  // URLSearchParams, Java's URLEncoder, Rust, Ruby.
  percent('*-._', '+'),
  // RFC 3986: curl, PHP and Guzzle, .NET's EscapeDataString, AWS.
  strict,
  // Python's urlencode, Go, Ruby's CGI.
  percent('-_.~', '+'),
  asItIs,
  percent(INSIDE_URLS),
  // Python's quote.
  percent('-_.~/'),
  // PHP's urlencode and http_build_query.
  percent('-_.', '+'),
  // .NET's UrlEncode; HttpUtility has lower case.
  percent('-_.!*()', '+'),
  // axios, and axios before 1.0.
  percent("-_.!~*'():$,", '+'),
  percent("-_.!~*'():$,[]", '+'),
  // Angular.
  percent("-_.!~*'()@:$,;=?/"),
  // OkHttp.
  percent('*-._'),
  percent(''),
  everything,
]
  .map((encoder) => [encoder, encoder] as const)
  .concat([[strict, everything]])

const inLowerCase = (encoder: Encoder): Encoder => {
  return (text) => encoder(text).replaceAll(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase())
}

const encoders = [
  ...inCapitals,
  ...inCapitals.map(([key, value]) => [inLowerCase(key), inLowerCase(value)] as const),
]

const decodesTo = (spelled: string, [key, value]: Pair): boolean => {
  const [pair, ...more] = new URLSearchParams(spelled)
  return more.length === 0 && pair?.[0] === key && pair[1] === value
}

/** Each way to spell all pairs, at most once; an empty value with its `=` or without. */
const spellings = (pairs: readonly Pair[]): string[][] => {
  const found = new Map<string, string[]>()
  for (const [key, value] of encoders) {
    const spelled = pairs.map((pair) => `${key(pair[0])}=${value(pair[1])}`)
    const bare = spelled.map((text, n) => (pairs[n]?.[1] === '' ? text.slice(0, -1) : text))
    for (const parts of [spelled, bare]) {
      const isSame = parts.every((text, n) => decodesTo(text, pairs[n] ?? ['', '']))
      if (isSame) found.set(parts.join('&'), parts)
    }
  }
  return [...found.values()]
}

/** The orders that pairs may have had: those of one key keep theirs. As they were received first. */
function* orders(groups: readonly (readonly number[])[]): Generator<number[]> {
  if (groups.every(({ length }) => length === 0)) yield []
  for (const [n, [first, ...others]] of groups.entries()) {
    if (first === undefined) continue
    const rest = groups.map((group, place) => (place === n ? others : group))
    for (const order of orders(rest)) yield [first, ...order]
  }
}

const groupsOf = (pairs: readonly Pair[]): number[][] => [
  ...Map.groupBy(pairs.keys(), (n) => pairs[n]?.[0]).values(),
]

function* queries(pairs: readonly Pair[]): Generator<string> {
  if (pairs.length === 0) {
    yield ''
    yield '?'
    return
  }
  const spelled = spellings(pairs)
  for (const order of orders(groupsOf(pairs))) {
    for (const ending of ['', '&']) {
      for (const parts of spelled) yield `?${order.map((n) => parts[n]).join('&')}${ending}`
    }
  }
}

/** No operation takes so many parameters. */
const PAIRS_MAX = 20
/** Covers five parameters in any order, within some milliseconds. */
const TARGETS_MAX = 2_000
/** Each candidate is hashed together with the body. */
const HASHED_BYTES_MAX = 8 * 1024 * 1024

type Sent = {
  /** As they came, encoded. */
  paths: readonly string[]
  pairs: readonly Pair[]
  bodyBytes: number
}

/** Path and query as the client may have signed them, the most likely spelling first. */
export function* signedTargets({ paths, pairs, bodyBytes }: Sent): Generator<string> {
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
