import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import * as v from 'valibot'
import {
  type BankDebitsPage,
  isOfDay,
  newComparison,
  type StatementReport,
  StatementRow,
} from '../domain/banks/statement.ts'
import type { Day } from '../domain/time.ts'
import type { StatementRequest } from './nouns/accounting.ts'

/** Compares a bank's statement with the debits of the service, for the operator command and the console. */

/** Thrown for an unreadable file, with a reason per line. */
export class MalformedStatement extends Error {}

const COLUMNS = ['uuid', 'bank_reference', 'amount', 'currency', 'completed_at'] as const
const PRINTED_MAX = 20

type LineError = { line: number; reason: string }

/** @param count the number of wrong lines, of which the first ones are given */
const refuse = (errors: readonly LineError[], count = errors.length): never => {
  const printed = errors.map(({ line, reason }) => `line ${line}: ${reason}`)
  const rest = count - printed.length
  const summary = rest > 0 ? [`and ${rest} more lines`] : []
  throw new MalformedStatement([...printed, ...summary].join('\n'))
}

type CsvRecord = { record: string[]; info: { lines: number } }

/** The parts of a file, in order. */
export type FileParts = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** A record without an end must not fill the memory. The parser counts the texts of a record only. */
const RECORD_MAX = 64 * 1024
const TOO_LONG = 'a record is too long, or its quotes are unclosed'

async function* textsOf(file: FileParts): AsyncGenerator<string> {
  // TextDecoder removes a byte order mark.
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    let length = 0
    for await (const part of file) {
      const text = decoder.decode(part, { stream: true })
      const end = text.lastIndexOf('\n')
      length = text.length - end - 1 + (end === -1 ? length : 0)
      if (length > 2 * RECORD_MAX) throw new MalformedStatement(TOO_LONG)
      yield text
    }
    yield decoder.decode()
  } catch (error) {
    if (error instanceof TypeError) throw new MalformedStatement('the file is not UTF-8')
    throw error
  }
}

async function* recordsIn(file: FileParts): AsyncGenerator<CsvRecord> {
  const parser = parse({
    info: true,
    trim: true,
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: RECORD_MAX,
  })
  try {
    // An error of a part ends the loop over the records.
    yield* pipeline(Readable.from(textsOf(file)), parser, () => undefined)
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const isLong = error.code === 'CSV_MAX_RECORD_SIZE'
    const reason = isLong ? TOO_LONG : 'unclosed quotes'
    refuse([{ line: Number(error.lines ?? 0), reason }])
  }
}

type Header = { columns: ReadonlyMap<string, number>; width: number }

const readHeader = ({ record, info }: CsvRecord): Header => {
  const names = record.map((name) => name.toLowerCase())
  const repeated = COLUMNS.filter((name) => names.indexOf(name) !== names.lastIndexOf(name))
  const [, , ...required] = COLUMNS
  const missing = required.filter((name) => !names.includes(name))
  const hasKey = names.includes('uuid') || names.includes('bank_reference')
  const reasons = [
    ...repeated.map((name) => `column ${name} is repeated`),
    ...missing.map((name) => `column ${name} is missing`),
    ...(hasKey ? [] : ['column uuid or bank_reference is missing']),
  ]
  if (reasons.length > 0) refuse([{ line: info.lines, reason: reasons.join('; ') }])
  return { columns: new Map(names.map((name, index) => [name, index])), width: names.length }
}

/** @throws MalformedStatement after the last row, with line and reason of each row that cannot be read */
export async function* readStatement(file: FileParts): AsyncGenerator<StatementRow> {
  const errors: LineError[] = []
  let count = 0
  let header: Header | undefined
  for await (const record of recordsIn(file)) {
    if (!header) {
      header = readHeader(record)
      continue
    }
    const row = rowOf(record, header)
    if (!('reason' in row)) yield row
    else if (++count <= PRINTED_MAX) errors.push(row)
  }
  if (!header) throw new MalformedStatement('the file is empty')
  if (count > 0) refuse(errors, count)
}

const rowOf = (
  { record, info }: CsvRecord,
  { columns, width }: Header,
): StatementRow | LineError => {
  // A quoted field may span lines; errors name the first line of a record.
  const line = info.lines - record.join('').split('\n').length + 1
  if (record.length !== width) {
    return { line, reason: `${record.length} fields, but ${width} columns` }
  }
  const fields = COLUMNS.map((name) => [name, record[columns.get(name) ?? -1] ?? ''])
  const row = v.safeParse(StatementRow, Object.fromEntries(fields))
  return row.success ? { line, ...row.output } : { line, reason: reasonsOf(row.issues) }
}

/** Returns reasons that name columns and never quote values. */
const reasonsOf = (issues: readonly v.BaseIssue<unknown>[]): string => {
  const reasons = issues.map(({ message, path }) =>
    message.startsWith('Invalid') ? `${String(path?.[0].key)} is malformed` : message,
  )
  return [...new Set(reasons)].join('; ')
}

export type LoadDebits = (request: StatementRequest) => Promise<BankDebitsPage>

/** Uuids per request: 200 kB of the 6 MB of a payload. */
const UUIDS_PER_REQUEST = 5_000
const ROWS_AT_ONCE = 4 * UUIDS_PER_REQUEST

/** @throws MalformedStatement if the file is malformed or has no row of the day */
export const compareFile = async (
  { file, date }: { file: FileParts; date: Day },
  loadDebits: LoadDebits,
): Promise<{ report: StatementReport; ignored: number }> => {
  const comparison = newComparison(date)
  const load = async (request: Parameters<LoadDebits>[0]) => {
    const page = await loadDebits(request)
    for (const debit of page.debits) comparison.addDebit(debit)
    return page.next
  }
  const loadDay = async (): Promise<void> => {
    let cursor = await load({ cursor: null })
    while (cursor) cursor = await load({ cursor })
  }
  let [compared, ignored] = [0, 0]
  let rows: StatementRow[] = []
  const compareRows = async () => {
    // Not before: an ordinary file is read to its end, and refused, without a request.
    if (compared === 0) await loadDay()
    const unknown = rows.flatMap(({ uuid }) => (uuid && !comparison.knows(uuid) ? [uuid] : []))
    for (let start = 0; start < unknown.length; start += UUIDS_PER_REQUEST) {
      await load({ uuids: unknown.slice(start, start + UUIDS_PER_REQUEST) })
    }
    for (const row of rows) comparison.addRow(row)
    compared += rows.length
    rows = []
  }
  for await (const row of readStatement(file)) {
    if (isOfDay(date, row)) rows.push(row)
    else ignored += 1
    if (rows.length === ROWS_AT_ONCE) await compareRows()
  }
  if (ignored > 0 && compared + rows.length === 0) {
    throw new MalformedStatement(`no row has completed_at on ${date}`)
  }
  if (rows.length > 0 || compared === 0) await compareRows()
  return { report: comparison.end(), ignored }
}
