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
import type { Day } from '../shared/domain/settlement/batch.ts'
import type { BookRequest } from '../shared/operator/nouns/reconciliation.ts'

/** Compares a bank's statement with the debits of the service, for the operator command. */

/** Thrown for an unreadable file, with a reason per line. */
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
    return refuse([{ line: Number(error.lines ?? 0), what: 'unclosed quotes' }])
  }
}

const decoded = (bytes: Uint8Array): string => {
  try {
    // TextDecoder removes a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new MalformedStatement('the file is not UTF-8')
  }
}

/** Returns the positions of the compared columns. */
const readHeader = ({ record, info }: Parsed): Map<string, number> => {
  const names = record.map((name) => name.toLowerCase())
  const twice = COLUMNS.filter((name) => names.indexOf(name) !== names.lastIndexOf(name))
  const [, , ...required] = COLUMNS
  const missing = required.filter((name) => !names.includes(name))
  const isNamed = names.includes('uuid') || names.includes('bank_reference')
  const mistakes = [
    ...twice.map((name) => `column ${name} is repeated`),
    ...missing.map((name) => `column ${name} is missing`),
    ...(isNamed ? [] : ['column uuid or bank_reference is missing']),
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
    // A quoted field may span lines; errors name the first line of a record.
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

/** Returns reasons that name columns and never quote values. */
const reasonsOf = (issues: readonly v.BaseIssue<unknown>[]): string => {
  const flat = issues.map((issue) => {
    const [column] = issue.path ?? []
    const isOurs = !issue.message.startsWith('Invalid')
    return isOurs ? issue.message : `${String(column?.key)} is malformed`
  })
  return [...new Set(flat)].join('; ')
}

const readFileOrInput = (file: string): Promise<Uint8Array> =>
  file === '-' ? buffer(process.stdin) : readFile(file)

/** Requests a page of debits from the function. */
export type Ask = (request: BookRequest) => Promise<{
  debits: StatementDebit[]
  next: Extract<BookRequest, { cursor: unknown }>['cursor']
}>

/** Uuids per request: 200 kB of the 6 MB of a payload. */
const UUIDS_PER_REQUEST = 5_000

/**
 * Compares the rows of a day in a file with the bank's debits.
 * @throws MalformedStatement if the file is unreadable or has no row of the day
 */
export const compareFile = async (
  { file, date }: { file: string; date: Day },
  ask: Ask,
): Promise<{ report: StatementReport; ignored: number }> => {
  const all = readStatement(await readFileOrInput(file))
  const rows = all.filter((row) => isOfDay(date, row))
  if (all.length > 0 && rows.length === 0) {
    throw new MalformedStatement(`no row has completed_at on ${date}`)
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
