import * as v from 'valibot'
import { Reference } from '../domain/ids.ts'
import { parseJson } from '../domain/json.ts'
import { formatAmount, pesewas } from '../domain/money.ts'
import {
  type BulkId,
  type BulkOutcome,
  type BulkProgress,
  type BulkResult,
  type BulkScope,
  bulkResult,
  digestOf,
  PART_REFERENCES,
} from '../domain/operator/bulk.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Runtime, timeLimit } from '../runtime.ts'
import { groupsOf, mapConcurrent } from '../store/concurrent.ts'
import { findDebits } from '../store/debits/debits.ts'
import {
  type BulkPart,
  findRows,
  hasOutcome,
  listOutcomes,
  listParts,
  outcomeWrite,
  putOutcome,
  putPart,
} from '../store/operator/bulks.ts'
import type { Write } from '../store/table.ts'
import type { Author } from './handler.ts'
import { explain } from './verbs.ts'

/**
 * Calls about many debits (docs/operations.md#many-at-once). Their references are stored first. The call
 * gives each debit an outcome, in the transaction of its effect, so a repeated call continues.
 */

/** The part of the function's minute that a call uses. */
const RUN_MS = 40_000
const AT_ONCE = 8
/** After so many faults the cause is not in single debits. */
const FAULTS_MAX = 20
/** The result names each refused debit, in at most 200 bytes: a reply of Lambda has at most 6 MB. */
const REFERENCES_MAX = 30_000

export const gone = () =>
  new Refusal(1404, { details: 'the rows of this call have expired: start it again' })

export const changedRows = () =>
  new Refusal(1409, { details: 'the rows are not those of the request: request it again' })

/** A part that the command uploads. */
export const PartRows = v.pipe(v.array(Reference), v.maxLength(PART_REFERENCES))

type AmountOf = (reference: Reference) => number

const putReferences = (
  { bulk, n }: { bulk: BulkId; n: number },
  references: readonly Reference[],
  amountOf: AmountOf,
  at: Date,
) => {
  const sum = references.reduce((total, reference) => total + amountOf(reference), 0)
  const totals = { count: references.length, sum }
  return putPart({ bulk, n, digest: digestOf(linesOf(references)), totals }, references, at)
}

/** Stores an uploaded part. The sum counts known debits only; the call refuses the others. */
export const uploadReferences = async (
  part: { bulk: BulkId; n: number },
  references: readonly Reference[],
  at: Date,
): Promise<void> => {
  const debits = await findDebits(references)
  await putReferences(part, references, (one) => debits.get(one)?.facts.amount ?? 0, at)
}

/** Stores the references that a call selects, by their amounts. */
export const storeSelection = async (
  amounts: ReadonlyMap<Reference, number>,
  { id, at }: Pick<Author, 'id' | 'at'>,
): Promise<BulkId> => {
  const bulk = id as BulkId
  for (const [n, part] of groupsOf([...amounts.keys()], PART_REFERENCES).entries()) {
    await putReferences({ bulk, n }, part, (one) => amounts.get(one) ?? 0, at)
  }
  return bulk
}

const linesOf = (references: readonly Reference[]): string =>
  references.map((reference) => `${reference}\n`).join('')

/** Returns the references in the order of their digest: `sort -u FILE | sha256sum`. */
const loadReferences = async (parts: readonly BulkPart[]): Promise<Reference[] | Refusal> => {
  const texts = await mapConcurrent(parts, AT_ONCE, findRows)
  if (parts.length === 0 || texts.includes(undefined)) return gone()
  const rows = texts.map((text = '') => parseJson(text) as Reference[])
  // Two uploads of a part at once can leave the rows of one and the sum of the other.
  const isMixed = rows.some((row, n) => digestOf(linesOf(row)) !== parts[n]?.digest)
  return isMixed ? changedRows() : [...new Set(rows.flat())].sort()
}

export const scopeOf = async (bulk: BulkId): Promise<BulkScope | Refusal> => {
  const parts = await listParts(bulk)
  const references = await loadReferences(parts)
  if (references instanceof Refusal) return references
  if (references.length > REFERENCES_MAX) {
    return new Refusal(1400, { details: `one call takes at most ${REFERENCES_MAX} references` })
  }
  const sum = pesewas(parts.reduce((total, { totals }) => total + (totals.sum ?? 0), 0))
  const totals = { count: references.length, sum: formatAmount(sum) }
  return { bulk, totals, digest: digestOf(linesOf(references)) }
}

/** Returns the id of the outcomes of a call: several calls can be about the same upload. */
export const outcomesOf = (bulk: BulkId, verb: string, approval: Author['approval']) =>
  (approval ?? `${bulk}-${verb}`) as BulkId

/** The mark of a call about many: its write makes a second effect on the same debit fail. */
export type Once = { write: Write; isDone: () => Promise<boolean> }

export const skipped = (reason: string): BulkOutcome => ({ outcome: 'skipped', reason })
export const refused = (refusal: Refusal): BulkOutcome => ({
  outcome: 'refused',
  reason: explain(refusal),
})
export const done: BulkOutcome = { outcome: 'done' }

/**
 * Performs a call on each debit that has no outcome yet. A fault leaves its debit to the next call.
 * @param perform writes the mark in the transaction of its effect, if it has one
 * @throws the first fault, after the other debits
 */
export const runBulk = async (
  scope: BulkScope,
  perform: (reference: Reference, author: Author, once: Once) => Promise<BulkOutcome>,
  { approval, scope: _, ...author }: Author,
  runtime: Runtime,
): Promise<BulkResult | BulkProgress | Refusal> => {
  const { bulk } = scope
  const references = await loadReferences(await listParts(bulk))
  if (references instanceof Refusal) return references
  if (digestOf(linesOf(references)) !== scope.digest) return changedRows()
  const call = outcomesOf(bulk, author.verb, approval)
  const previous = await listOutcomes(call)
  const timeIsUp = timeLimit(runtime, RUN_MS, author.at)
  const faults: Error[] = []
  const performOne = async (reference: Reference): Promise<void> => {
    if (faults.length >= FAULTS_MAX || timeIsUp()) return
    const at = runtime.now()
    const write = outcomeWrite(call, reference, done, at)
    const once = { write, isDone: () => hasOutcome(call, reference) }
    try {
      const outcome = await perform(reference, { ...author, id: runtime.newId() }, once)
      if (outcome.outcome !== 'done') await putOutcome(call, reference, outcome, at)
    } catch (error) {
      faults.push(new Error(`${reference}: ${(error as Error).message}`, { cause: error }))
    }
  }
  const open = references.filter((reference) => !previous.has(reference))
  await mapConcurrent(open, AT_ONCE, performOne)
  const [fault] = faults
  if (fault) throw fault
  const outcomes = await listOutcomes(call)
  return outcomes.size < references.length
    ? { bulk, processed: outcomes.size, total: references.length }
    : bulkResult(outcomes)
}
