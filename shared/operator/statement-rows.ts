import {
  type StatementColumns,
  type StatementField,
  type StatementFormat,
  statementFields,
} from '../domain/banks/statement-format.ts'
import {
  type MovementKind,
  movementKinds,
  parseStatementRow,
  type StatementRow,
  type StatementTexts,
} from '../domain/banks/statement-row.ts'
import {
  type CsvRecord,
  type FileParts,
  firstLineOf,
  type LineError,
  MalformedFile,
  PRINTED_MAX,
  recordsInTexts,
  refuse,
  textsOf,
  widthReason,
} from './csv-file.ts'
import { readCamt } from './statement-camt.ts'

/** Reads a bank's statement: CSV with our columns or the bank's own, or camt.053. */

const OWN_COLUMNS = Object.fromEntries(
  statementFields.map((name) => [name, name]),
) as Required<StatementColumns>
const REQUIRED = ['amount', 'currency', 'completed_at'] as const

type Header = { places: (readonly [StatementField, number])[]; width: number }

const readHeader = ({ record, info }: CsvRecord, mapped: StatementColumns | null): Header => {
  const columns = mapped ?? OWN_COLUMNS
  const names = record.map((name) => name.toLowerCase())
  const placeOf = (name: string): number => names.indexOf(name.toLowerCase())
  const all = Object.values(columns)
  const required = mapped ? all : REQUIRED
  const hasKey = mapped || placeOf('uuid') >= 0 || placeOf('bank_reference') >= 0
  const reasons = [
    ...all.flatMap((name) =>
      placeOf(name) === names.lastIndexOf(name.toLowerCase()) ? [] : [`column ${name} is repeated`],
    ),
    ...required.flatMap((name) => (placeOf(name) < 0 ? [`column ${name} is missing`] : [])),
    ...(hasKey ? [] : ['column uuid or bank_reference is missing']),
  ]
  if (reasons.length > 0) refuse([{ line: info.lines, reason: reasons.join('; ') }])
  const places = Object.entries(columns).map(
    ([field, name]) => [field as StatementField, placeOf(name)] as const,
  )
  return { places: places.filter(([, place]) => place >= 0), width: record.length }
}

const rowOf = (csv: CsvRecord, { places, width }: Header): StatementRow | LineError => {
  const line = firstLineOf(csv)
  const { record } = csv
  const reason = widthReason(csv, width)
  if (reason) return { line, reason }
  const texts: StatementTexts = {}
  for (const [field, place] of places) texts[field] = record[place] ?? ''
  return parseStatementRow(line, texts)
}

/** The kinds that the file has, once its rows are read. */
export type Coverage = { kinds: readonly MovementKind[] }

const DEBITS: readonly MovementKind[] = ['debit']
const OUTGOING_COLUMNS: readonly StatementField[] = ['kind', 'outgoing']

async function* csvRows(
  all: AsyncIterable<string>,
  columns: StatementColumns | null,
  coverage: Coverage,
): AsyncGenerator<StatementRow | LineError> {
  const { texts, delimiter, ...found } = await belowTitles(all, columns)
  let header: Header | undefined
  for await (const record of recordsInTexts(texts, delimiter)) {
    if (header) {
      yield rowOf(record, header)
      continue
    }
    header = readHeader(record, found.columns)
    const isFull = header.places.some(([field]) => OUTGOING_COLUMNS.includes(field))
    if (isFull) coverage.kinds = movementKinds
  }
  if (!header) throw new MalformedFile('the file is empty')
}

async function* camtRows(
  texts: AsyncIterable<string>,
  coverage: Coverage,
): AsyncGenerator<StatementRow | LineError> {
  coverage.kinds = movementKinds
  for await (const { line, fields } of readCamt(texts)) yield parseStatementRow(line, fields)
}

/** Bytes or characters that contain a header and the lines above it. */
const PEEKED = 16 * 1024

/** Returns the first parts of a file, and the others. */
const peek = async <T extends { length: number }>(file: Iterable<T> | AsyncIterable<T>) => {
  const rest = (async function* () {
    yield* file
  })()
  const first: T[] = []
  let length = 0
  while (length < PEEKED) {
    const { value, done } = await rest.next()
    if (done) break
    first.push(value)
    length += value.length
  }
  return { first, rest }
}

async function* chained<T>(first: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield* first
  yield* rest
}

/** Lines of name, account and period above the header of a bank's own file. */
const TITLES_MAX = 50

const normalize = (name: string): string => name.replaceAll('"', '').trim().toLowerCase()

/** Reports whether a quote of the line ends on another line. */
const isOpen = (line = ''): boolean => line.split('"').length % 2 === 0

/** Finds the line that has the most of these columns, and its separator. */
const findHeader = (lines: readonly string[], columns: readonly string[]) => {
  let best = { found: 0, titles: 0, delimiter: ',' }
  for (const [titles, line] of lines.entries()) {
    for (const delimiter of [',', ';', '\t']) {
      const fields = line.split(delimiter).map(normalize)
      const found = columns.filter((name) => fields.includes(normalize(name))).length
      if (found > best.found) best = { found, titles, delimiter }
    }
  }
  let { titles } = best
  // A quoted cell of the header can have line breaks.
  while (isOpen(lines[titles]) && isOpen(lines[titles - 1])) titles -= 1
  return { ...best, titles, isWhole: best.found === columns.length }
}

/** Finds the header, which has the columns of the bank or else ours, and empties the lines above it. */
const belowTitles = async (all: AsyncIterable<string>, ofBank: StatementColumns | null) => {
  const { first, rest } = await peek(all)
  const lines = first.join('').split('\n')
  const searched = lines.slice(0, TITLES_MAX + 1)
  const own = findHeader(searched, REQUIRED)
  const bank = ofBank && findHeader(searched, Object.values(ofBank))
  const isOwn = !bank || (own.isWhole && !bank.isWhole)
  const { titles, delimiter } = isOwn ? own : bank
  const kept = lines.fill('', 0, titles).join('\n')
  return { texts: chained([kept], rest), delimiter, columns: isOwn ? null : ofBank }
}

/** Returns a file's first parts as ASCII, without the byte order mark. */
const asciiIn = (parts: readonly Uint8Array[]): string =>
  Buffer.concat(parts)
    .toString('latin1')
    .replaceAll('\0', '')
    .replace(/^[^!-~]+/, '')

const OWN_FORMAT: StatementFormat = { columns: null, encoding: 'utf-8' }
const LATIN = /^<\?xml[^>]*encoding=["'](?:iso-8859-1|windows-1252)["']/i

const camtFormat = (head: string): StatementFormat =>
  LATIN.test(head) ? { ...OWN_FORMAT, encoding: 'windows-1252' } : OWN_FORMAT

/**
 * Yields the rows of a statement.
 * @param coverage receives the kinds that the file has
 * @throws MalformedFile after the last row, with line and reason of each row that cannot be read
 */
export async function* readStatement(
  file: FileParts,
  loadFormat: () => Promise<StatementFormat> = async () => OWN_FORMAT,
  coverage: Coverage = { kinds: DEBITS },
): AsyncGenerator<StatementRow> {
  const errors: LineError[] = []
  let count = 0
  const { first, rest } = await peek(file)
  const head = asciiIn(first)
  const isCamt = head.startsWith('<')
  const { columns, encoding } = isCamt ? camtFormat(head) : await loadFormat()
  const texts = textsOf(chained(first, rest), encoding)
  const rows = isCamt ? camtRows(texts, coverage) : csvRows(texts, columns, coverage)
  for await (const row of rows) {
    if ('reason' in row) {
      if (++count <= PRINTED_MAX) errors.push(row)
      continue
    }
    if (row.kind !== 'debit') coverage.kinds = movementKinds
    yield row
  }
  if (count > 0) refuse(errors, count)
}
