import { type ExceptionStatus, exceptionStatuses, rowOf } from '../domain/debits/exception.ts'
import { type Refund, type RefundList, refundStatuses } from '../domain/debits/refund.ts'
import type { Reference } from '../domain/ids.ts'
import { END_OF_TIME } from '../domain/time.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { exceptionPages, findExceptions } from '../store/debits/exceptions.ts'
import { findRefunds, refundPages } from '../store/debits/refunds.ts'
import { changesWithin } from '../store/operator/changes.ts'
import type { Span } from '../store/table.ts'
import type { Case } from './entries.ts'

/** The longest call of a function. A change has the time of the start of its call. */
const CALL_MS = 900_000

/**
 * Returns the refunds and exceptions that may have changed the ledger since a time, by debit.
 * @param before exceptions reported and resolved later are not read; a later refund may be of a case before
 */
export const casesSince = (from: Date, before = END_OF_TIME): Promise<Map<Reference, Case>> => {
  const later = { from, before: END_OF_TIME }
  return loadCases(
    [refunded('due', later), refunded('completed', later)],
    [
      ...exceptionStatuses.map((status) => ledgerExceptions(status, { from, before })),
      resolved({ from: new Date(from.getTime() - CALL_MS), before }),
    ],
  )
}

/** Returns the refunds that are due or failed, and the undecided late completions. */
export const openCases = (): Promise<Map<Reference, Case>> =>
  loadCases(
    [refunded('due', { from: new Date(0), before: END_OF_TIME })],
    [ledgerExceptions('open')],
  )

const READ_AT_ONCE = 16

type Lists = readonly AsyncIterable<Reference>[]

const loadCases = async (ofRefunds: Lists, ofExceptions: Lists) => {
  const excepted = await referencesIn(ofExceptions)
  const references = (await referencesIn(ofRefunds)).union(excepted)
  const all = await findRefunds([...references])
  const refunds = new Map(all.map((refund) => [refund.reference, refund]))
  const cases = await mapConcurrent([...references], READ_AT_ONCE, async (reference) => {
    const refund = refunds.get(reference)
    const hasExceptions = excepted.has(reference) || mayHaveExceptions(refund)
    return [
      reference,
      { refund, exceptions: hasExceptions ? await findExceptions(reference) : [] },
    ] as const
  })
  return new Map<Reference, Case>(cases)
}

const referencesIn = async (lists: Lists): Promise<Set<Reference>> => {
  const references = new Set<Reference>()
  for (const list of lists) for await (const reference of list) references.add(reference)
  return references
}

/** Only a late completion or a failed refund has exceptions that the ledger reads. */
const mayHaveExceptions = (refund: Refund | undefined): boolean =>
  refund?.origin !== 'reversal' || refundStatuses[refund.status].mayRetry

async function* refunded(list: RefundList, span: Span): AsyncGenerator<Reference> {
  for await (const page of refundPages(list, span)) yield* page.map(({ reference }) => reference)
}

/** Includes those of unknown kinds, whose amounts may be in an account. */
async function* ledgerExceptions(status: ExceptionStatus, span?: Span): AsyncGenerator<Reference> {
  for await (const page of exceptionPages(status, span)) {
    for (const { kind, reference } of page) {
      if (rowOf(kind)?.account !== null) yield reference
    }
  }
}

/** Yields the debits of exceptions that operators resolved. */
async function* resolved(span: Span): AsyncGenerator<Reference> {
  for await (const { target, changed } of changesWithin(span)) {
    if ('resolved' in changed) yield target as Reference
  }
}
