import { createHash, type Hash } from 'node:crypto'
import * as v from 'valibot'
import type { BankDebitsPage, OutgoingPage, StatementReport } from '../domain/banks/statement.ts'
import type { StatementFormat } from '../domain/banks/statement-format.ts'
import type { MovementKind, StatementRow } from '../domain/banks/statement-row.ts'
import { Uuid } from '../domain/ids.ts'
import type { Day } from '../domain/time.ts'
import { type FileParts, MalformedFile } from './csv-file.ts'
import type { StatementRequest } from './nouns/accounting.ts'
import { isOfDay, newComparison } from './statement-comparison.ts'
import { type Coverage, readStatement } from './statement-rows.ts'

/** Compares a bank's statement with the movements of the service, for the operator command and the console. */

/** Calls the function of the noun, whose reply has the type of the request. */
export type AskStatement = <R extends StatementRequest>(request: R) => Promise<ReplyTo<R>>
export type ReplyTo<R> = R extends { format: true }
  ? StatementFormat
  : R extends { outgoing: string }
    ? OutgoingPage
    : R extends { result: object }
      ? { stored: boolean }
      : BankDebitsPage

/** Uuids per request: 200 kB of the 6 MB of a payload. */
const UUIDS_PER_REQUEST = 5_000
const ROWS_AT_ONCE = 4 * UUIDS_PER_REQUEST

type DebitsRequest = Extract<StatementRequest, { cursor: unknown } | { uuids: unknown }>

const OUTGOING = ['refund', 'payout'] as const

async function* hashed(file: FileParts, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const part of file) {
    hash.update(part)
    yield part
  }
}

type FileReport = {
  report: StatementReport
  /** Rows of other days. */
  ignored: number
  covers: readonly MovementKind[]
}

const countsOf = ({ matched, missing_here, missing_at_bank, differs }: StatementReport) => ({
  matched: matched.count,
  missing_here: missing_here.count,
  missing_at_bank: missing_at_bank.count,
  differs: differs.count,
})

const NAMED = 20

const namesIn = ({ examples }: StatementReport['differs']): string[] =>
  examples
    .slice(0, NAMED)
    .map(({ line, reference }) => [line && `line ${line}`, reference].filter(Boolean).join(' '))

const namesOf = ({ missing_here, missing_at_bank, differs }: StatementReport) => ({
  missing_here: namesIn(missing_here),
  missing_at_bank: namesIn(missing_at_bank),
  differs: namesIn(differs),
})

/**
 * Compares a file and stores the counts, with the digest of the file. Accepts a file without rows, of a
 * day without movements.
 * @throws MalformedFile if the file is malformed or has rows of other days only
 */
export const compareFile = async (
  { file, date }: { file: FileParts; date: Day },
  ask: AskStatement,
): Promise<FileReport> => {
  const comparison = newComparison(date)
  const hash = createHash('sha256')
  const coverage: Coverage = { kinds: ['debit'] }
  let first: BankDebitsPage | undefined
  const loadDebits = async (request: DebitsRequest) => {
    const page = await ask<DebitsRequest>(request)
    for (const debit of page.debits) comparison.add(debit)
    return page
  }
  const loadDay = async (): Promise<void> => {
    let page = await loadDebits({ cursor: null })
    first = page
    for (const [uuid, day] of Object.entries(page.booked?.days ?? {})) comparison.book(uuid, day)
    while (page.next) page = await loadDebits({ cursor: page.next })
    for (const kind of OUTGOING) {
      for (let after: string | null = ''; after !== null; ) {
        const { outgoing, next }: OutgoingPage = await ask({ outgoing: kind, after })
        for (const movement of outgoing) comparison.add(movement)
        after = next
      }
    }
  }
  let [compared, ignored] = [0, 0]
  let rows: StatementRow[] = []
  const compareRows = async () => {
    // Not before: an ordinary file is read to its end, and refused, without a further request.
    if (compared === 0) await loadDay()
    const unknown = rows.flatMap(({ uuid }) =>
      // A bank's own uuid of another version names no debit.
      v.is(Uuid, uuid) && !comparison.knows(uuid) ? [uuid] : [],
    )
    const absent = new Set<string | null>()
    for (let start = 0; start < unknown.length; start += UUIDS_PER_REQUEST) {
      const uuids = unknown.slice(start, start + UUIDS_PER_REQUEST)
      const page = await loadDebits({ uuids })
      for (const uuid of page.absent ?? []) absent.add(uuid)
    }
    for (const row of rows) comparison.addRow(row, absent.has(row.uuid))
    compared += rows.length
    rows = []
  }
  for await (const row of readStatement(
    hashed(file, hash),
    () => ask({ format: true }),
    coverage,
  )) {
    if (isOfDay(date, row)) rows.push(row)
    else ignored += 1
    if (rows.length === ROWS_AT_ONCE) await compareRows()
  }
  if (ignored > 0 && compared + rows.length === 0) {
    throw new MalformedFile(`no row has completed_at on ${date}`)
  }
  if (rows.length > 0 || compared === 0) await compareRows()
  const covers = coverage.kinds
  const report = comparison.end(covers)
  const stored = { counts: countsOf(report), names: namesOf(report), digest: hash.digest('hex') }
  const days = { ahead: comparison.ahead(), booked: first?.booked?.digest }
  await ask({ result: { covers: [...covers], ...stored, ...days, read_at: first?.read_at } })
  return { report, ignored, covers }
}
