import { invalid, unsupported } from './errors.ts'
import { parsing, type Reader, unexpected } from './expression-reader.ts'
import { type Attribute, type Placeholder, parseAttribute, parseSimple } from './parse-condition.ts'

/** Parses the update expressions that the product sends. */

export type Source =
  | Attribute
  | Placeholder
  | { kind: 'sum' | 'appended'; left: Source; right: Source }
  | { kind: 'default'; of: Attribute; source: Source }

export type Update = {
  set: { to: Attribute; source: Source }[]
  add: { to: Attribute; by: Placeholder }[]
  remove: Attribute[]
  /** Every attribute that is written. */
  written: Attribute[]
}

const parseUpdate = (reader: Reader): Update => {
  const update: Update = { set: [], add: [], remove: [], written: [] }
  const clauses = new Set<string>()
  do {
    const clause = reader.next().toUpperCase()
    if (clauses.has(clause)) throw invalid(`The "${clause}" section can only be used once`)
    clauses.add(clause)
    do parseAction(clause, reader, update)
    while (reader.accept(','))
  } while (reader.peek() !== '')
  return update
}

const parseAction = (clause: string, reader: Reader, update: Update): void => {
  if (clause !== 'SET' && clause !== 'ADD' && clause !== 'REMOVE') {
    throw unsupported(`clause: ${clause}`)
  }
  const to = parseAttribute(reader)
  update.written.push(to)
  if (clause === 'SET') {
    reader.expect('=')
    update.set.push({ to, source: parseSource(reader) })
  } else if (clause === 'ADD') update.add.push({ to, by: parsePlaceholder(reader) })
  else update.remove.push(to)
}

const parsePlaceholder = (reader: Reader): Placeholder => {
  const operand = parseSimple(reader)
  if (operand.kind !== 'value') throw unexpected(operand.name)
  return operand
}

const parseSource = (reader: Reader): Source => {
  const left = parseTerm(reader)
  return reader.accept('+') ? { kind: 'sum', left, right: parseTerm(reader) } : left
}

const parseTerm = (reader: Reader): Source => {
  if (reader.peek(1) !== '(') return parseSimple(reader)
  const name = reader.next()
  reader.expect('(')
  const left = parseSimple(reader)
  reader.expect(',')
  const right = parseSimple(reader)
  reader.expect(')')
  if (name === 'list_append') return { kind: 'appended', left, right }
  if (name !== 'if_not_exists' || left.kind !== 'attribute') throw unsupported(`function: ${name}`)
  return { kind: 'default', of: left, source: right }
}

export const parseUpdateText = parsing(parseUpdate)
