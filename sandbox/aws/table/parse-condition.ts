import { unsupported } from './errors.ts'
import { parsing, type Reader, unexpected } from './expression-reader.ts'

/** Parses the conditions, filters and key conditions that the product sends. */

/** A top-level attribute, by its name or `#name`. */
export type Attribute = { kind: 'attribute'; name: string }
export type Placeholder = { kind: 'value'; name: string }
export type Operand = Attribute | Placeholder | { kind: 'size'; of: Attribute }

export type Comparator = '=' | '<' | '<=' | '>' | '>='

export type Condition =
  | { kind: 'and'; left: Condition; right: Condition }
  | { kind: 'or'; left: Condition; right: Condition }
  | { kind: 'compare'; comparator: Comparator; left: Operand; right: Operand }
  | { kind: 'between'; of: Operand; low: Operand; high: Operand }
  | { kind: 'exists' | 'not exists'; of: Attribute }
  | { kind: 'begins with'; of: Operand; prefix: Operand }

const parseOr = (reader: Reader): Condition => {
  let left = parseAnd(reader)
  while (reader.accept('OR')) left = { kind: 'or', left, right: parseAnd(reader) }
  return left
}

const parseAnd = (reader: Reader): Condition => {
  let left = parseTerm(reader)
  while (reader.accept('AND')) left = { kind: 'and', left, right: parseTerm(reader) }
  return left
}

const parseTerm = (reader: Reader): Condition => {
  if (reader.accept('(')) {
    const condition = parseOr(reader)
    reader.expect(')')
    return condition
  }
  if (reader.peek(1) === '(' && reader.peek() !== 'size') return parseCall(reader)
  const left = parseOperand(reader)
  if (reader.accept('BETWEEN')) {
    const low = parseOperand(reader)
    reader.expect('AND')
    return { kind: 'between', of: left, low, high: parseOperand(reader) }
  }
  const comparator = reader.next()
  if (!isComparator(comparator)) throw unsupported(`operator: ${comparator}`)
  return { kind: 'compare', comparator, left, right: parseOperand(reader) }
}

const COMPARATORS: ReadonlySet<string> = new Set(['=', '<', '<=', '>', '>='])

const isComparator = (token: string): token is Comparator => COMPARATORS.has(token)

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
      return { kind: 'exists', of: parseAttribute(reader) }
    case 'attribute_not_exists':
      return { kind: 'not exists', of: parseAttribute(reader) }
    case 'begins_with': {
      const of = parseOperand(reader)
      reader.expect(',')
      return { kind: 'begins with', of, prefix: parseOperand(reader) }
    }
    default:
      throw unsupported(`function: ${name}`)
  }
}

const parseOperand = (reader: Reader): Operand => {
  if (reader.peek() !== 'size' || reader.peek(1) !== '(') return parseSimple(reader)
  reader.next()
  reader.expect('(')
  const of = parseAttribute(reader)
  reader.expect(')')
  return { kind: 'size', of }
}

export const parseSimple = (reader: Reader): Attribute | Placeholder =>
  reader.peek().startsWith(':') ? { kind: 'value', name: reader.next() } : parseAttribute(reader)

export const parseAttribute = (reader: Reader): Attribute => {
  const name = reader.next()
  if (!/^[#A-Za-z]/.test(name)) throw unexpected(name)
  return { kind: 'attribute', name }
}

export const parseCondition = parsing(parseOr)
