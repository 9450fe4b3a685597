import type { Reference } from '../domain/ids.ts'
import type { Span } from '../store/table.ts'

/** A span of time that is read slice by slice, in milliseconds. */
export type SlicedSpan = {
  from: number
  before: number
  /** The length of the next slice; by default the whole span. */
  length?: number
}

/** The references of a slice, which a worker holds with their items. */
export const SLICE_MAX = 2_000
const SHORTEST_MS = 1_000

type SliceList = (span: Span) => AsyncIterable<readonly Reference[]>

/** Reads a list up to `max` references. Returns undefined if it has more. */
const collect = async (list: AsyncIterable<readonly Reference[]>, max: number) => {
  const references: Reference[] = []
  for await (const page of list) {
    references.push(...page)
    if (references.length > max) return undefined
  }
  return references
}

const readFrom = async (list: SliceList, { from, before, length }: SlicedSpan, max: number) => {
  let end = Math.min(before, from + (length ?? before - from))
  for (;;) {
    const isShortest = end - from <= SHORTEST_MS
    const span = { from: new Date(from), before: new Date(end) }
    const references = await collect(list(span), isShortest ? Number.POSITIVE_INFINITY : max)
    if (references) return { span, references }
    end = from + Math.max(SHORTEST_MS, Math.floor((end - from) / 2))
  }
}

/**
 * Reads the first slice of a span: as many references as fit, each once, because the time of a debit
 * in a list never changes. The length of the next slice follows the number of references.
 * @returns the slice, and the rest of the span if it has one
 */
export const readSlice = async <S extends SlicedSpan>(list: SliceList, whole: S, max: number) => {
  const { span, references } = await readFrom(list, whole, max)
  const length =
    (span.before.getTime() - span.from.getTime()) * (references.length < max / 4 ? 2 : 1)
  const from = span.before.getTime()
  const rest: S | undefined = from < whole.before ? { ...whole, from, length } : undefined
  return { span, references, rest }
}

/** Splits a span into spans of equal length, which several workers read. */
export const splitSpan = <S extends SlicedSpan>(whole: S, count: number): S[] => {
  const { from, before } = whole
  const step = Math.ceil((before - from) / count)
  if (step < SHORTEST_MS) return [whole]
  return Array.from({ length: count }, (_, index) => ({
    ...whole,
    from: from + index * step,
    before: Math.min(before, from + (index + 1) * step),
  })).filter((part) => part.from < part.before)
}
