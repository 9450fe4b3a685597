import { hash } from 'node:crypto'
import * as v from 'valibot'

/** Calls about many objects (docs/operations.md#many-at-once): their rows are stored in parts. */

export const BulkId = v.pipe(
  v.string(),
  v.regex(/^[\w-]{8,64}$/, 'must be the id of an upload'),
  v.brand('BulkId'),
)
export type BulkId = v.InferOutput<typeof BulkId>

/** The most references of a part: an item of the table has at most 400 KB. */
export const PART_REFERENCES = 10_000

/** The objects of a call, as the operator who approves it sees them. */
export type BulkScope = {
  bulk: BulkId
  /** Counts, and amounts as text. */
  totals: Record<string, number | string>
  digest: string
}

export const digestOf = (text: string): string => hash('sha256', text)

/** The result for one object. A call has at most one for each. */
export type BulkOutcome = {
  outcome: 'done' | 'skipped' | 'refused'
  reason?: string
  /** The changes of a part of an import, counted before its first write. */
  totals?: Record<string, number>
}

/** An object that a call left unchanged. */
type Unchanged = { reference: string; reason: string }

/** `skipped`: nothing was to do. `refused`: a rule does not allow it. */
export type BulkResult = { done: number; skipped: Unchanged[]; refused: Unchanged[] }

/** The reply of a call that the next one continues. */
export type BulkProgress = { bulk: BulkId; processed: number; total: number }

export const isProgress = (result: unknown): result is BulkProgress =>
  typeof result === 'object' && result !== null && 'bulk' in result && 'processed' in result

export const bulkResult = (outcomes: ReadonlyMap<string, BulkOutcome>): BulkResult => {
  const unchanged = (kind: BulkOutcome['outcome']): Unchanged[] =>
    [...outcomes].flatMap(([reference, { outcome, reason = '' }]) =>
      outcome === kind ? [{ reference, reason }] : [],
    )
  const done = [...outcomes.values()].filter(({ outcome }) => outcome === 'done').length
  return { done, skipped: unchanged('skipped'), refused: unchanged('refused') }
}
