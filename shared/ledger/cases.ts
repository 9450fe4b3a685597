import {
  type ExceptionStatus,
  exceptionKinds,
  exceptionStatuses,
} from '../domain/debits/exception.ts'
import { type Refund, type RefundList, refundStatuses } from '../domain/debits/refund.ts'
import type { Reference } from '../domain/ids.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { exceptionPages, findExceptions } from '../store/debits/exceptions.ts'
import { findRefunds, refundPages } from '../store/debits/refunds.ts'
import { changesWithin } from '../store/operator/changes.ts'
import type { Span } from '../store/table.ts'
import type { Case } from './entries.ts'

/** After every stored time. */
const ALWAYS = new Date('9999-01-01')

/** The longest call of a function. A change has the time of the start of its call. */
const CALL_MS = 900_000

/** Returns the refunds and late completions that may have changed since a time, by debit. */
export const casesSince = (from: Date): Promise<Map<Reference, Case>> => {
  const span = { from, before: ALWAYS }
  return loadCases([
    refunded('due', span),
    refunded('completed', span),
    ...exceptionStatuses.map((status) => lateCompletions(status, span)),
    resolved({ ...span, from: new Date(from.getTime() - CALL_MS) }),
  ])
}

/** Returns the refunds that are due or failed, and the undecided late completions. */
export const openCases = (): Promise<Map<Reference, Case>> =>
  loadCases([refunded('due', { from: new Date(0), before: ALWAYS }), lateCompletions('open')])

const READ_AT_ONCE = 16

const loadCases = async (lists: readonly AsyncIterable<Reference>[]) => {
  const references = new Set<Reference>()
  for (const list of lists) for await (const reference of list) references.add(reference)
  const all = await findRefunds([...references])
  const refunds = new Map(all.map((refund) => [refund.reference, refund]))
  const cases = await mapConcurrent([...references], READ_AT_ONCE, async (reference) => {
    const refund = refunds.get(reference)
    return [reference, { refund, exceptions: await loadExceptions(reference, refund) }] as const
  })
  return new Map<Reference, Case>(cases)
}

/** Only a late completion or a failed refund has exceptions that the ledger reads. */
const loadExceptions = (reference: Reference, refund: Refund | undefined) => {
  const hasNone = refund?.origin === 'reversal' && !refundStatuses[refund.status].mayRetry
  return hasNone ? Promise.resolve([]) : findExceptions(reference)
}

async function* refunded(list: RefundList, span: Span): AsyncGenerator<Reference> {
  for await (const page of refundPages(list, span)) yield* page.map(({ reference }) => reference)
}

async function* lateCompletions(status: ExceptionStatus, span?: Span): AsyncGenerator<Reference> {
  for await (const page of exceptionPages(status, span)) {
    for (const { kind, reference } of page) {
      if (exceptionKinds[kind].account === 'exceptions') yield reference
    }
  }
}

/** Yields the debits of exceptions that operators resolved. */
async function* resolved(span: Span): AsyncGenerator<Reference> {
  for await (const { target, changed } of changesWithin(span)) {
    if ('resolved' in changed) yield target as Reference
  }
}
