import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { CsvError, parse } from 'csv-parse/sync'
import * as v from 'valibot'
import {
  compareStatement,
  isOfDay,
  type StatementDebit,
  type StatementReport,
  StatementRow,
} from '../shared/domain/banks/statement.ts'
import type { Day } from '../shared/domain/time.ts'
import type { BookRequest } from '../shared/operator/nouns/reconciliation.ts'

/** Compares a bank's statement with the books, for the operator command. */

/** A file that cannot be compared: why not, line by line. */
export class MalformedStatement extends Error {}

const COLUMNS = ['uuid', 'bank_reference', 'amount', 'currency', 'completed_at'] as const
const LINES_NAMED = 20

type Mistake = { line: number; what: string }

const refuse = (mistakes: readonly Mistake[]): never => {
  const named = mistakes.slice(0, LINES_NAMED).map(({ line, what }) => `line ${line}: ${what}`)
  const rest = mistakes.length - named.length
  const more = rest > 0 ? [`and ${rest} more lines`] : []
  throw new MalformedStatement([...named, ...more].join('\n'))
}

type Parsed = { record: string[]; info: { lines: number } }

const readRecords = (text: string): Parsed[] => {
  try {
    return parse(text, {
      info: true,
      trim: true,
      skip_empty_lines: true,
      relax_column_count: true,
    }) as unknown as Parsed[]
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return refuse([{ line: Number(error.lines ?? 0), what: 'its quotes are not closed' }])
  }
}

const decoded = (bytes: Uint8Array): string => {
  try {
    // It takes a byte order mark away.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new MalformedStatement('the file is not UTF-8')
  }
}

/** Columns by their position; others than those that are compared are left out. */
const readHeader = ({ record, info }: Parsed): Map<string, number> => {
  const names = record.map((name) => name.toLowerCase())
  const twice = COLUMNS.filter((name) => names.indexOf(name) !== names.lastIndexOf(name))
  const [, , ...required] = COLUMNS
  const missing = required.filter((name) => !names.includes(name))
  const isNamed = names.includes('uuid') || names.includes('bank_reference')
  const mistakes = [
    ...twice.map((name) => `the column ${name} is there twice`),
    ...missing.map((name) => `there is no column ${name}`),
    ...(isNamed ? [] : ['there is no column uuid or bank_reference']),
  ]
  if (mistakes.length > 0) refuse([{ line: info.lines, what: mistakes.join('; ') }])
  return new Map(names.map((name, n) => [name, n]))
}

/**
 * Reads the rows of a statement.
 * @throws MalformedStatement with the line and the reason of each row that cannot be read
 */
export const readStatement = (bytes: Uint8Array): StatementRow[] => {
  const [header, ...records] = readRecords(decoded(bytes))
  if (!header) throw new MalformedStatement('the file is empty')
  const columns = readHeader(header)
  const mistakes: Mistake[] = []
  const rows: StatementRow[] = []
  for (const { record, info } of records) {
    // A quoted field may span lines; a record is named by the line that it begins in.
    const line = info.lines - record.join('').split('\n').length + 1
    const fields = COLUMNS.map((name) => [name, record[columns.get(name) ?? -1] ?? ''])
    const row = v.safeParse(StatementRow, Object.fromEntries(fields))
    if (record.length !== header.record.length) {
      mistakes.push({ line, what: `${record.length} fields, but ${header.record.length} columns` })
    } else if (row.success) rows.push({ line, ...row.output })
    else mistakes.push({ line, what: reasonsOf(row.issues) })
  }
  if (mistakes.length > 0) refuse(mistakes)
  return rows
}

/** Reasons name columns, and never what a row says. */
const reasonsOf = (issues: readonly v.BaseIssue<unknown>[]): string => {
  const flat = issues.map((issue) => {
    const [column] = issue.path ?? []
    const isOurs = !issue.message.startsWith('Invalid')
    return isOurs ? issue.message : `${String(column?.key)} is not well formed`
  })
  return [...new Set(flat)].join('; ')
}

const readFileOrInput = (file: string): Promise<Uint8Array> =>
  file === '-' ? buffer(process.stdin) : readFile(file)

/** Asks the function for a part of the books. */
export type Ask = (request: BookRequest) => Promise<{
  debits: StatementDebit[]
  next: Extract<BookRequest, { cursor: unknown }>['cursor']
}>

/** Uuids that one request carries: 200 kB of the 6 MB of a payload. */
const UUIDS_PER_REQUEST = 5_000

/**
 * Compares the rows of a day in a file with the books of the bank.
 * @throws MalformedStatement for a file that cannot be read, and one without a row of the day
 */
export const compareFile = async (
  { file, date }: { file: string; date: Day },
  ask: Ask,
): Promise<{ report: StatementReport; ignored: number }> => {
  const all = readStatement(await readFileOrInput(file))
  const rows = all.filter((row) => isOfDay(date, row))
  if (all.length > 0 && rows.length === 0) {
    throw new MalformedStatement(`no row was completed on ${date}`)
  }
  const debits = new Map<string, StatementDebit>()
  const add = (some: readonly StatementDebit[]) => {
    for (const debit of some) debits.set(debit.uuid, debit)
  }
  let cursor: Parameters<Ask>[0] | undefined = { cursor: null }
  while (cursor) {
    const part = await ask(cursor)
    add(part.debits)
    cursor = part.next ? { cursor: part.next } : undefined
  }
  const unknown = rows.flatMap(({ uuid }) => (uuid && !debits.has(uuid) ? [uuid] : []))
  for (let n = 0; n < unknown.length; n += UUIDS_PER_REQUEST) {
    add((await ask({ uuids: unknown.slice(n, n + UUIDS_PER_REQUEST) })).debits)
  }
  const report = compareStatement(date, rows, [...debits.values()])
  return { report, ignored: all.length - rows.length }
}
