import { invalid } from './errors.ts'

/**
 * The expressions of DynamoDB, read by hand: the parsers there are put the values of one command
 * into what they make of its text (dynalite), so it could not be storage for the next command.
 */

/** Reads the text of an expression, word by word. */
export type Reader = {
  /** The next word; the empty text at the end. */
  peek: (ahead?: number) => string
  next: () => string
  /** Takes the next word when it is this one; keywords in any case. */
  accept: (word: string) => boolean
  expect: (word: string) => void
}

const WORD = /\s*([A-Za-z]\w*|[#:]\w+|\d+|<>|<=|>=|[=<>(),.[\]+-])/y

const wordsOf = (text: string): string[] => {
  const words: string[] = []
  const end = text.trimEnd().length
  WORD.lastIndex = 0
  while (WORD.lastIndex < end) {
    const from = WORD.lastIndex
    const word = WORD.exec(text)?.[1]
    if (word === undefined) throw invalid(`Syntax error in an expression: ${text.slice(from)}`)
    words.push(word)
  }
  return words
}

export const readerOf = (text: string): Reader => {
  const words = wordsOf(text)
  let at = 0
  const peek = (ahead = 0): string => words[at + ahead] ?? ''
  const accept = (word: string): boolean => {
    if (peek().toUpperCase() !== word.toUpperCase()) return false
    at += 1
    return true
  }
  return {
    peek,
    accept,
    next: () => {
      at += 1
      return words[at - 1] ?? ''
    },
    expect: (word) => {
      if (!accept(word)) throw unexpected(peek(), text)
    },
  }
}

export const unexpected = (word: string, where = ''): Error =>
  invalid(`Syntax error in an expression; token: "${word || '<EOF>'}" ${where}`.trimEnd())

/** An expression, parsed once; the placeholders in it are bound with each use. */
export type Parsed<T> = {
  tree: T
  /** Every `#name` in it. */
  names: readonly string[]
  /** Every `:value` in it. */
  values: readonly string[]
}

const wordsWith = (text: string, first: string): string[] => [
  ...new Set(wordsOf(text).filter((word) => word.startsWith(first))),
]

/** Product code has some fifty expressions; what generates more of them is let go of. */
const KEPT_MAX = 20_000

/** Parses each text once. */
export const parsing = <T>(parse: (reader: Reader) => T): ((text: string) => Parsed<T>) => {
  const known = new Map<string, Parsed<T>>()
  return (text) => {
    const found = known.get(text)
    if (found) return found
    if (known.size >= KEPT_MAX) known.clear()
    const reader = readerOf(text)
    const tree = parse(reader)
    if (reader.peek() !== '') throw unexpected(reader.peek(), text)
    const parsed = { tree, names: wordsWith(text, '#'), values: wordsWith(text, ':') }
    known.set(text, parsed)
    return parsed
  }
}
