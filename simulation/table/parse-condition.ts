import { invalid } from './errors.ts'
import { parsing, type Reader, unexpected } from './expression-reader.ts'
import { type Path, parsePath } from './paths.ts'

/** Conditions, filters and key conditions, as trees. What they come to is in `holds.ts`. */

export type Placeholder = { kind: 'value'; name: string }
export type Size = { kind: 'size'; of: Path | Placeholder }
export type Operand = Path | Placeholder | Size

export type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>='

export type Condition =
  | { kind: 'and' | 'or'; left: Condition; right: Condition }
  | { kind: 'not'; of: Condition }
  | { kind: 'compare'; comparator: Comparator; left: Operand; right: Operand }
  | { kind: 'between'; of: Operand; low: Operand; high: Operand }
  | { kind: 'in'; of: Operand; among: readonly Operand[] }
  | { kind: 'exists' | 'not exists'; path: Path }
  | { kind: 'type'; of: Operand; operand: Operand }
  | { kind: 'begins with'; of: Operand; operand: Operand }
  | { kind: 'contains'; of: Operand; operand: Operand }

const COMPARATORS: ReadonlySet<string> = new Set(['=', '<>', '<', '<=', '>', '>='])

const isComparator = (word: string): word is Comparator => COMPARATORS.has(word)

const parseEither = (reader: Reader): Condition => {
  let left = parseBoth(reader)
  while (reader.accept('OR')) left = { kind: 'or', left, right: parseBoth(reader) }
  return left
}

const parseBoth = (reader: Reader): Condition => {
  let left = parseNegated(reader)
  while (reader.accept('AND')) left = { kind: 'and', left, right: parseNegated(reader) }
  return left
}

const parseNegated = (reader: Reader): Condition => {
  if (reader.accept('NOT')) return { kind: 'not', of: parseNegated(reader) }
  if (reader.peek() !== '(' || isOperandNext(reader)) return parsePlain(reader)
  reader.next()
  return parseEnclosed(reader)
}

const AFTER_OPERAND = /^(?:=|<|<=|>|>=|<>|BETWEEN|IN)$/i

/** Whether it is an operand that stands in the parentheses that are opened current. */
const isOperandNext = (reader: Reader): boolean => {
  let depth = 1
  let ahead = 1
  for (; depth > 0 && reader.peek(ahead) !== ''; ahead += 1) {
    if (reader.peek(ahead) === '(') depth += 1
    if (reader.peek(ahead) === ')') depth -= 1
  }
  return AFTER_OPERAND.test(reader.peek(ahead))
}

/** What stood in parentheses; once more deps it says nothing, and is refused. */
const enclosed = new WeakSet<Condition>()

const parseEnclosed = (reader: Reader): Condition => {
  const condition = parseEither(reader)
  if (enclosed.has(condition)) throw invalid('The expression has redundant parentheses')
  reader.expect(')')
  enclosed.add(condition)
  return condition
}

const parsePlain = (reader: Reader): Condition => {
  if (reader.peek(1) === '(' && reader.peek() !== 'size') return parseCall(reader)
  const left = parseOperand(reader)
  if (reader.accept('BETWEEN')) {
    const low = parseOperand(reader)
    reader.expect('AND')
    return { kind: 'between', of: left, low, high: parseOperand(reader) }
  }
  if (reader.accept('IN')) return { kind: 'in', of: left, among: parseAmong(reader) }
  const comparator = reader.next()
  if (!isComparator(comparator)) throw unexpected(comparator)
  return { kind: 'compare', comparator, left, right: parseOperand(reader) }
}

const parseAmong = (reader: Reader): Operand[] => {
  reader.expect('(')
  const among = [parseOperand(reader)]
  while (reader.accept(',')) among.push(parseOperand(reader))
  reader.expect(')')
  return among
}

const parseCall = (reader: Reader): Condition => {
  const name = reader.next()
  reader.expect('(')
  const condition = parseArguments(name, reader)
  reader.expect(')')
  return condition
}

const parseArguments = (name: string, reader: Reader): Condition => {
  switch (name) {
    case 'attribute_exists':
      return { kind: 'exists', path: parsePath(reader) }
    case 'attribute_not_exists':
      return { kind: 'not exists', path: parsePath(reader) }
    case 'attribute_type':
      return { kind: 'type', ...parsePair(reader) }
    case 'begins_with':
      return { kind: 'begins with', ...parsePair(reader) }
    case 'contains':
      return { kind: 'contains', ...parsePair(reader) }
    default:
      throw invalid(`Invalid function name; function: ${name}`)
  }
}

const parsePair = (reader: Reader): { of: Operand; operand: Operand } => {
  const of = parseOperand(reader)
  reader.expect(',')
  return { of, operand: parseOperand(reader) }
}

const parseOperand = (reader: Reader): Operand => {
  if (reader.accept('(')) {
    if (reader.peek() === '(') throw invalid('The expression has redundant parentheses')
    const operand = parseOperand(reader)
    reader.expect(')')
    return operand
  }
  if (reader.peek() !== 'size' || reader.peek(1) !== '(') return parseSimple(reader)
  reader.next()
  reader.expect('(')
  const of = parseSimple(reader)
  reader.expect(')')
  return { kind: 'size', of }
}

export const parseSimple = (reader: Reader): Path | Placeholder =>
  reader.peek().startsWith(':') ? { kind: 'value', name: reader.next() } : parsePath(reader)

export const parseCondition = parsing(parseEither)
