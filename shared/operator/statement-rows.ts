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

/** Records of name, account and period above the header of a bank's own file. */
const TITLES_MAX = 50

const isTitle = ({ record }: CsvRecord, columns: StatementColumns): boolean => {
  const names = Object.values(columns).map((name) => name.toLowerCase())
  return !record.some((field) => names.includes(field.toLowerCase()))
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
  texts: AsyncIterable<string>,
  { columns, delimiter }: { columns: StatementColumns | null; delimiter: string },
  coverage: Coverage,
): AsyncGenerator<StatementRow | LineError> {
  let header: Header | undefined
  let skipped = 0
  for await (const record of recordsInTexts(texts, delimiter)) {
    if (header) {
      yield rowOf(record, header)
      continue
    }
    if (columns && isTitle(record, columns) && skipped++ < TITLES_MAX) continue
    header = readHeader(record, columns)
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

const PEEKED = 4_096

/** Returns the first bytes of a file as ASCII, and all its parts. */
const peek = async (file: FileParts) => {
  const parts = (async function* () {
    yield* file
  })()
  let head = Buffer.alloc(0)
  const textOf = () => head.toString('latin1').replaceAll('\0', '')
  while (head.length < PEEKED) {
    const { value, done } = await parts.next()
    if (done) break
    head = Buffer.concat([head, value])
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    yield head
    yield* parts
  }
  // Without the byte order mark.
  return { head: textOf().replace(/^[^\s!-~]+/, ''), all: all() }
}

/** Returns the character that separates the columns: the most frequent in the header. */
const delimiterIn = (lines: readonly string[], columns: StatementColumns | null): string => {
  const names = Object.values(columns ?? {}).map((name) => name.toLowerCase())
  const isHeader = (line: string) => names.some((name) => line.toLowerCase().includes(name))
  const header = lines.find(isHeader) ?? lines[0] ?? ''
  const counts = [',', ';', '\t'].map((one) => [one, header.split(one).length] as const)
  return counts.reduce((best, one) => (one[1] > best[1] ? one : best))[0]
}

const OWN_FORMAT: StatementFormat = { columns: null, encoding: 'utf-8' }
const LATIN = /^<\?xml[^>]*encoding=["'](?:iso-8859-1|windows-1252)["']/i

/** Does not load the format of the bank for camt.053, nor for a file with our columns. */
const formatOf = async (head: string, header: string, load: () => Promise<StatementFormat>) => {
  if (LATIN.test(head)) return { ...OWN_FORMAT, encoding: 'windows-1252' } as const
  const names = header.toLowerCase()
  const isOwn =
    head === '' || head.startsWith('<') || REQUIRED.every((name) => names.includes(name))
  return isOwn ? OWN_FORMAT : load()
}

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
  const peeked = await peek(file)
  const head = peeked.head.trimStart()
  const lines = head.split('\n')
  const { columns, encoding } = await formatOf(head, lines[0] ?? '', loadFormat)
  const texts = textsOf(peeked.all, encoding)
  const rows = head.startsWith('<')
    ? camtRows(texts, coverage)
    : csvRows(texts, { columns, delimiter: delimiterIn(lines, columns) }, coverage)
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
