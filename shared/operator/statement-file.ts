import * as v from 'valibot'
import {
  type BankDebitsPage,
  isOfDay,
  newComparison,
  type StatementReport,
  StatementRow,
} from '../domain/banks/statement.ts'
import type { Day } from '../domain/time.ts'
import {
  type CsvRecord,
  type FileParts,
  firstLineOf,
  type LineError,
  MalformedFile,
  PRINTED_MAX,
  reasonsOf,
  recordsIn,
  refuse,
} from './csv-file.ts'
import type { StatementRequest } from './nouns/accounting.ts'

/** Compares a bank's statement with the debits of the service, for the operator command and the console. */

const COLUMNS = ['uuid', 'bank_reference', 'amount', 'currency', 'completed_at'] as const

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

/** @throws MalformedFile after the last row, with line and reason of each row that cannot be read */
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
  if (!header) throw new MalformedFile('the file is empty')
  if (count > 0) refuse(errors, count)
}

const rowOf = (csv: CsvRecord, { columns, width }: Header): StatementRow | LineError => {
  const line = firstLineOf(csv)
  const { record } = csv
  if (record.length !== width) {
    return { line, reason: `${record.length} fields, but ${width} columns` }
  }
  const fields = COLUMNS.map((name) => [name, record[columns.get(name) ?? -1] ?? ''])
  const row = v.safeParse(StatementRow, Object.fromEntries(fields))
  return row.success ? { line, ...row.output } : { line, reason: reasonsOf(row.issues) }
}

export type LoadDebits = (request: StatementRequest) => Promise<BankDebitsPage>

/** Uuids per request: 200 kB of the 6 MB of a payload. */
const UUIDS_PER_REQUEST = 5_000
const ROWS_AT_ONCE = 4 * UUIDS_PER_REQUEST

/** @throws MalformedFile if the file is malformed or has no row of the day */
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
    throw new MalformedFile(`no row has completed_at on ${date}`)
  }
  if (rows.length > 0 || compared === 0) await compareRows()
  return { report: comparison.end(), ignored }
}
