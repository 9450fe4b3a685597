import { invalid } from './errors.ts'
import { parsing, type Reader, unexpected } from './expression-reader.ts'
import { type Placeholder, parseSimple } from './parse-condition.ts'
import { type Path, parsePath } from './paths.ts'

/** Update expressions, as lists of what is to be done. What becomes of an item is in `updated.ts`. */

export type Source =
  | Path
  | Placeholder
  | { kind: 'sum' | 'difference'; left: Source; right: Source }
  | { kind: 'otherwise'; path: Path; source: Source }
  | { kind: 'appended'; left: Source; right: Source }

export type Update = {
  set: { path: Path; source: Source }[]
  add: { path: Path; by: Placeholder }[]
  remove: Path[]
  /** Every path that is written. */
  paths: Path[]
  /** Whether any of them leads into an attribute. */
  isDeep: boolean
}

const parseUpdate = (reader: Reader): Update => {
  const update: Update = { set: [], add: [], remove: [], paths: [], isDeep: false }
  const seen = new Set<string>()
  do {
    const clause = reader.next().toUpperCase()
    if (seen.has(clause)) throw invalid(`The "${clause}" section can only be used once`)
    seen.add(clause)
    do parseAction(clause, reader, update)
    while (reader.accept(','))
  } while (reader.peek() !== '')
  update.paths = [
    ...update.set.map(({ path }) => path),
    ...update.add.map(({ path }) => path),
    ...update.remove,
  ]
  update.isDeep = update.paths.some(({ steps }) => steps.length > 1)
  return update
}

const parseAction = (clause: string, reader: Reader, update: Update): void => {
  switch (clause) {
    case 'SET': {
      const path = parsePath(reader)
      reader.expect('=')
      update.set.push({ path, source: parseSource(reader) })
      return
    }
    case 'ADD':
      update.add.push({ path: parsePath(reader), by: parsePlaceholder(reader) })
      return
    case 'REMOVE':
      update.remove.push(parsePath(reader))
      return
    default:
      // DELETE is for sets, and there are none.
      throw unexpected(clause)
  }
}

const parsePlaceholder = (reader: Reader): Placeholder => {
  const operand = parseSimple(reader)
  if (operand.kind !== 'value') throw unexpected('')
  return operand
}

const parseSource = (reader: Reader): Source => {
  const left = parseTerm(reader)
  if (reader.accept('+')) return { kind: 'sum', left, right: parseTerm(reader) }
  if (reader.accept('-')) return { kind: 'difference', left, right: parseTerm(reader) }
  return left
}

/** What stood in parentheses; once more deps it says nothing, and is refused. */
const enclosed = new WeakSet<Source>()

const parseTerm = (reader: Reader): Source => {
  if (reader.accept('(')) {
    const source = parseSource(reader)
    if (enclosed.has(source)) throw invalid('The expression has redundant parentheses')
    reader.expect(')')
    enclosed.add(source)
    return source
  }
  return reader.peek(1) === '(' ? parseCall(reader) : parseSimple(reader)
}

const parseCall = (reader: Reader): Source => {
  const name = reader.next()
  reader.expect('(')
  const left = parseTerm(reader)
  reader.expect(',')
  const right = parseTerm(reader)
  reader.expect(')')
  if (left.kind === 'appended' || right.kind === 'appended') {
    throw invalid('list_append is not allowed to be used this way in an expression')
  }
  switch (name) {
    case 'if_not_exists':
      if (left.kind !== 'path') throw invalid('if_not_exists must be asked about a path')
      return { kind: 'otherwise', path: left, source: right }
    case 'list_append':
      return { kind: 'appended', left, right }
    default:
      throw invalid(`Invalid function name; function: ${name}`)
  }
}

export const parseUpdateText = parsing(parseUpdate)
