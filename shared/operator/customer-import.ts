import * as v from 'valibot'
import type { BankIdentifier } from '../domain/banks/bank.ts'
import { type ImportResult, ImportRow } from '../domain/banks/customer-import.ts'
import { parseJson } from '../domain/json.ts'
import {
  type BulkId,
  type BulkProgress,
  type BulkScope,
  digestOf,
} from '../domain/operator/bulk.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Runtime, timeLimit } from '../runtime.ts'
import { compareRows, importRows, sumOf } from '../store/banks/customer-import.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import {
  type BulkPart,
  findRows,
  listOutcomes,
  listParts,
  outcomeWrite,
  putOutcome,
  putPart,
  removeRows,
} from '../store/operator/bulks.ts'
import { changeWrites } from '../store/operator/changes.ts'
import { customerHasher } from '../store/operator/customer-hash.ts'
import type { Write } from '../store/table.ts'
import { transact } from '../store/transactions.ts'
import { changedRows, done, gone, outcomesOf } from './bulk.ts'
import type { Author } from './handler.ts'

/** Imports of customers' accounts (docs/operations.md#customers-of-a-bank), part by part. */

/** The part of the function's minute in which a part may start. */
const RUN_MS = 30_000

export const ImportRows = v.array(ImportRow)
type Rows = v.InferOutput<typeof ImportRows>

/** Stores a part with what it would change, so that the request shows it. */
export const uploadRows = async (
  { bulk, n, refused }: { bulk: BulkId; n: number; refused: number },
  rows: Rows,
  bank: BankIdentifier,
  at: Date,
): Promise<void> => {
  const { counts } = await compareRows(rows, bank)
  const totals = { ...counts, refused }
  await putPart({ bulk, n, digest: digestOf(`${bank}\n${JSON.stringify(rows)}`), totals }, rows, at)
}

/** Returns counts, and a keyed digest: the record of a request outlives an erasure. */
export const importScope = async (
  bulk: BulkId,
  runtime: Pick<Runtime, 'randomBytes'>,
): Promise<BulkScope | Refusal> => scopeOfParts(bulk, await listParts(bulk), runtime)

const scopeOfParts = async (
  bulk: BulkId,
  parts: readonly BulkPart[],
  runtime: Pick<Runtime, 'randomBytes'>,
): Promise<BulkScope | Refusal> => {
  if (parts.length === 0) return gone()
  const hash = await customerHasher(runtime)
  const refused = parts.reduce((total, part) => total + (part.totals.refused ?? 0), 0)
  const totals = { ...sumOf(parts.map((part) => part.totals)), refused }
  return { bulk, totals, digest: hash(parts.map(({ digest }) => digest).join('\n')) }
}

const effects = ['added', 'changed', 'removed'] as const

/** Refuses an import that would do more than its request shows, because accounts have changed. */
const changedAccounts = () =>
  new Refusal(1409, { details: 'accounts of the file have changed: start the import again' })

/**
 * Counts all parts first, and records the import with the last count. Then it imports the parts that are
 * not done yet. A part that is interrupted is repeated.
 */
export const runImport = async (
  scope: BulkScope,
  bank: BankIdentifier,
  { approval, scope: _, ...author }: Author,
  runtime: Runtime,
): Promise<ImportResult | BulkProgress | Refusal> => {
  const { bulk, totals, digest } = scope
  // Another upload can replace a part at any time: the rows are those of the parts that are compared.
  const parts = await listParts(bulk)
  const current = await scopeOfParts(bulk, parts, runtime)
  if (current instanceof Refusal) return current
  if (current.digest !== digest) return changedRows()
  const call = outcomesOf(bulk, author.verb, approval)
  // Apart from the outcomes: an earlier version takes a part with an outcome for done.
  const counting = `${call}-counts` as BulkId
  const [outcomes, counts] = await Promise.all([listOutcomes(call), listOutcomes(counting)])
  const sumOfCounts = () => sumOf([...counts.values()].map(({ totals = {} }) => totals))
  const timeIsUp = timeLimit(runtime, RUN_MS, author.at)
  const progress = () => ({ bulk, processed: outcomes.size, total: parts.length })
  for (const part of parts.filter(({ n }) => !counts.has(String(n)))) {
    if (timeIsUp()) return progress()
    const rows = await loadRows(part, bank)
    if (rows instanceof Refusal) return rows
    const outcome = { ...done, totals: (await compareRows(rows, bank)).counts }
    counts.set(String(part.n), outcome)
    const writes: Write[] = [outcomeWrite(counting, String(part.n), outcome, runtime.now())]
    if (counts.size === parts.length) {
      const counted = sumOfCounts()
      if (effects.some((name) => counted[name] > Number(totals[name]))) return changedAccounts()
      const recording = { ...author, target: bank, bank }
      writes.push(...changeWrites(recording, undefined, { ...totals, ...counted, digest }))
    }
    await transact(writes, runtime)
  }
  for (const part of parts.filter(({ n }) => !outcomes.has(String(n)))) {
    if (timeIsUp()) return progress()
    const rows = await loadRows(part, bank)
    if (rows instanceof Refusal) return rows
    await importRows(rows, bank, await compareRows(rows, bank), runtime)
    const outcome = counts.get(String(part.n)) ?? done
    await putOutcome(call, String(part.n), outcome, runtime.now())
    outcomes.set(String(part.n), outcome)
  }
  await mapConcurrent(parts, 8, removeRows)
  const { added, changed, removed } = sumOfCounts()
  return { added, changed, removed, refused: Number(totals.refused) }
}

const loadRows = async (part: BulkPart, bank: BankIdentifier): Promise<Rows | Refusal> => {
  const text = await findRows(part)
  if (text === undefined) return gone()
  return digestOf(`${bank}\n${text}`) === part.digest ? (parseJson(text) as Rows) : changedRows()
}
