import type { Item } from './change.ts'
import { invalid, unsupported } from './errors.ts'
import { parsing, type Reader, unexpected } from './expression-reader.ts'
import type { Key } from './keys.ts'
import { type Attribute, type Placeholder, parseAttribute, parseSimple } from './parse-condition.ts'
import { attributeOf, type Bindings, nameOf } from './placeholders.ts'
import { isList, type Value } from './values.ts'

/** Parses and applies the update expressions that the product sends. */

/** Computes the new value of an attribute from the item before the update. */
type Source = (item: Item | Key, bindings: Bindings) => Value

/** The written attributes; one without a source is removed. */
export type Update = readonly { to: Attribute; source: Source | undefined }[]

/** Returns the updated item, frozen. */
export const applyUpdate = (item: Item | Key, update: Update, bindings: Bindings): Item => {
  const updated: Record<string, unknown> & Key = { ...item }
  for (const { to, source } of update) {
    const name = nameOf(to, bindings)
    if (source) updated[name] = source(item, bindings)
    else delete updated[name]
  }
  return Object.freeze(updated)
}

const parseUpdate = (reader: Reader): Update => {
  const update: Update[number][] = []
  const clauses = new Set<string>()
  do {
    const clause = reader.next().toUpperCase()
    if (clauses.has(clause)) throw invalid(`The "${clause}" section can only be used once`)
    clauses.add(clause)
    do update.push(parseAction(clause, reader))
    while (reader.accept(','))
  } while (reader.peek() !== '')
  return update
}

const parseAction = (clause: string, reader: Reader): Update[number] => {
  const to = parseAttribute(reader)
  switch (clause) {
    case 'SET':
      reader.expect('=')
      return { to, source: parseSource(reader) }
    case 'ADD':
      return {
        to,
        source: sum(
          withDefault(to, () => 0),
          parsePlaceholder(reader),
        ),
      }
    case 'REMOVE':
      return { to, source: undefined }
    default:
      throw unsupported(`clause: ${clause}`)
  }
}

const parsePlaceholder = (reader: Reader): Source => {
  const operand = parseSimple(reader)
  if (operand.kind !== 'value') throw unexpected(operand.name)
  return simple(operand)
}

const parseSource = (reader: Reader): Source => {
  const left = parseTerm(reader)
  return reader.accept('+') ? sum(left, parseTerm(reader)) : left
}

const parseTerm = (reader: Reader): Source => {
  if (reader.peek(1) !== '(') return simple(parseSimple(reader))
  const name = reader.next()
  reader.expect('(')
  if (name === 'list_append') return appended(parseTerm(reader), parseLast(reader))
  const left = parseSimple(reader)
  if (name !== 'if_not_exists' || left.kind !== 'attribute') throw unsupported(`function: ${name}`)
  return withDefault(left, parseLast(reader))
}

const parseLast = (reader: Reader): Source => {
  reader.expect(',')
  const last = simple(parseSimple(reader))
  reader.expect(')')
  return last
}

const simple =
  (operand: Attribute | Placeholder): Source =>
  (item, bindings) => {
    const value =
      operand.kind === 'value'
        ? bindings.values[operand.name]
        : attributeOf(item, operand, bindings)
    if (value !== undefined) return value
    throw invalid('The provided expression refers to an attribute that does not exist in the item')
  }

/** A null attribute exists. */
const withDefault =
  (of: Attribute, otherwise: Source): Source =>
  (item, bindings) =>
    attributeOf(item, of, bindings) === undefined
      ? otherwise(item, bindings)
      : simple(of)(item, bindings)

const wrongType = (): Error =>
  invalid('An operand in the update expression has an incorrect data type')

const appended =
  (first: Source, second: Source): Source =>
  (...context) => {
    const [left, right] = [first(...context), second(...context)]
    if (!isList(left) || !isList(right)) throw wrongType()
    return Object.freeze([...left, ...right])
  }

const sum =
  (first: Source, second: Source): Source =>
  (...context) => {
    const [left, right] = [first(...context), second(...context)]
    if (typeof left !== 'number' || typeof right !== 'number') throw wrongType()
    const result = left + right
    if (!Number.isSafeInteger(result)) throw new Error(`${result} is not a safe integer`)
    return result
  }

export const parseUpdateText = parsing(parseUpdate)
