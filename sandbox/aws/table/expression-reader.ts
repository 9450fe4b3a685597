import { invalid, unsupported } from './errors.ts'

const TOKEN = /\s*([A-Za-z]\w*|[#:]\w+|<>|<=|>=|[=<>(),+-])/y

const tokensOf = (text: string): string[] => {
  const tokens: string[] = []
  const end = text.trimEnd().length
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < end) {
    const from = TOKEN.lastIndex
    const token = TOKEN.exec(text)?.[1]
    // Document paths (`a.b`, `a[0]`) end here too.
    if (token === undefined) throw unsupported(`expression text: ${text.slice(from)}`)
    tokens.push(token)
  }
  return tokens
}

export type Reader = ReturnType<typeof readerOf>

const readerOf = (tokens: readonly string[]) => {
  let position = 0
  /** Returns the next token; empty at the end. */
  const peek = (ahead = 0): string => tokens[position + ahead] ?? ''
  /** Consumes the next token if it equals the word; keywords in any case. */
  const accept = (word: string): boolean => {
    if (peek().toUpperCase() !== word.toUpperCase()) return false
    position += 1
    return true
  }
  return {
    peek,
    accept,
    next: (): string => {
      position += 1
      return tokens[position - 1] ?? ''
    },
    expect: (word: string): void => {
      if (!accept(word)) throw unexpected(peek())
    },
  }
}

export const unexpected = (token: string): Error =>
  invalid(`Syntax error in an expression; token: "${token || '<EOF>'}"`)

/** A parsed expression; its placeholders are bound on each use. */
export type Parsed<T> = {
  tree: T
  /** Every `#name` and every `:value` in it. */
  names: readonly string[]
  values: readonly string[]
}

const withPrefix = (tokens: readonly string[], prefix: string): string[] => [
  ...new Set(tokens.filter((token) => token.startsWith(prefix))),
]

/** The product has about fifty expressions; generated ones must not accumulate. */
const CACHE_MAX = 20_000

/** Returns a parser that parses each text once. */
export const parsing = <T>(parse: (reader: Reader) => T): ((text: string) => Parsed<T>) => {
  const cache = new Map<string, Parsed<T>>()
  return (text) => {
    const cached = cache.get(text)
    if (cached) return cached
    if (cache.size >= CACHE_MAX) cache.clear()
    const tokens = tokensOf(text)
    const reader = readerOf(tokens)
    const tree = parse(reader)
    if (reader.peek() !== '') throw unexpected(reader.peek())
    const parsed = { tree, names: withPrefix(tokens, '#'), values: withPrefix(tokens, ':') }
    cache.set(text, parsed)
    return parsed
  }
}
