import { CsvError, parse } from 'csv-parse/sync'
import * as v from 'valibot'
import {
  type BankDebitsPage,
  compareStatement,
  isOfDay,
  type StatementDebit,
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

const refuse = (errors: readonly LineError[]): never => {
  const printed = errors.slice(0, PRINTED_MAX).map(({ line, reason }) => `line ${line}: ${reason}`)
  const rest = errors.length - printed.length
  const summary = rest > 0 ? [`and ${rest} more lines`] : []
  throw new MalformedStatement([...printed, ...summary].join('\n'))
}

type CsvRecord = { record: string[]; info: { lines: number } }

const readRecords = (text: string): CsvRecord[] => {
  try {
    return parse(text, {
      info: true,
      trim: true,
      skip_empty_lines: true,
      relax_column_count: true,
    }) as unknown as CsvRecord[]
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return refuse([{ line: Number(error.lines ?? 0), reason: 'unclosed quotes' }])
  }
}

const decode = (bytes: Uint8Array): string => {
  try {
    // TextDecoder removes a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new MalformedStatement('the file is not UTF-8')
  }
}

const readHeader = ({ record, info }: CsvRecord): Map<string, number> => {
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
  return new Map(names.map((name, index) => [name, index]))
}

/** @throws MalformedStatement with the line and the reason of each row that cannot be read */
export const readStatement = (bytes: Uint8Array): StatementRow[] => {
  const [header, ...records] = readRecords(decode(bytes))
  if (!header) throw new MalformedStatement('the file is empty')
  const columns = readHeader(header)
  const errors: LineError[] = []
  const rows: StatementRow[] = []
  for (const { record, info } of records) {
    // A quoted field may span lines; errors name the first line of a record.
    const line = info.lines - record.join('').split('\n').length + 1
    const fields = COLUMNS.map((name) => [name, record[columns.get(name) ?? -1] ?? ''])
    const row = v.safeParse(StatementRow, Object.fromEntries(fields))
    if (record.length !== header.record.length) {
      errors.push({ line, reason: `${record.length} fields, but ${header.record.length} columns` })
    } else if (row.success) rows.push({ line, ...row.output })
    else errors.push({ line, reason: reasonsOf(row.issues) })
  }
  if (errors.length > 0) refuse(errors)
  return rows
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

/** @throws MalformedStatement if the file is malformed or has no row of the day */
export const compareFile = async (
  { file, date }: { file: Uint8Array; date: Day },
  loadDebits: LoadDebits,
): Promise<{ report: StatementReport; ignored: number }> => {
  const allRows = readStatement(file)
  const rows = allRows.filter((row) => isOfDay(date, row))
  if (allRows.length > 0 && rows.length === 0) {
    throw new MalformedStatement(`no row has completed_at on ${date}`)
  }
  const debits = new Map<string, StatementDebit>()
  const load = async (request: Parameters<LoadDebits>[0]) => {
    const page = await loadDebits(request)
    for (const debit of page.debits) debits.set(debit.uuid, debit)
    return page.next
  }
  let cursor = await load({ cursor: null })
  while (cursor) cursor = await load({ cursor })
  const unknown = rows.flatMap(({ uuid }) => (uuid && !debits.has(uuid) ? [uuid] : []))
  for (let start = 0; start < unknown.length; start += UUIDS_PER_REQUEST) {
    await load({ uuids: unknown.slice(start, start + UUIDS_PER_REQUEST) })
  }
  const report = compareStatement(date, rows, [...debits.values()])
  return { report, ignored: allRows.length - rows.length }
}
