import type { Refund } from '../domain/debits/refund.ts'
import type { Reference } from '../domain/ids.ts'
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
export const casesSince = async (from: Date): Promise<Map<Reference, Case>> => {
  const span = { from, before: ALWAYS }
  const references = new Set<Reference>()
  for (const list of ['due', 'completed'] as const) {
    for await (const page of refundPages(list, span)) {
      for (const { reference } of page) references.add(reference)
    }
  }
  for await (const reference of decidedOrReported(span)) references.add(reference)
  return loadCases(references)
}

/** Returns the refunds that are due or failed, and the undecided late completions. */
export const openCases = async (): Promise<Map<Reference, Case>> => {
  const references = new Set<Reference>()
  for await (const page of refundPages('due', { from: new Date(0), before: ALWAYS })) {
    for (const { reference } of page) references.add(reference)
  }
  for await (const reference of lateCompletions('open')) references.add(reference)
  return loadCases(references)
}

const loadCases = async (references: ReadonlySet<Reference>): Promise<Map<Reference, Case>> => {
  const all = await findRefunds([...references])
  const refunds = new Map(all.map((refund) => [refund.reference, refund]))
  const cases = new Map<Reference, Case>()
  for (const reference of references) {
    const refund = refunds.get(reference)
    cases.set(reference, { refund, exceptions: await loadExceptions(reference, refund) })
  }
  return cases
}

/** Only a late completion or a failed refund has exceptions that the ledger reads. */
const loadExceptions = (reference: Reference, refund: Refund | undefined) => {
  const hasNone = refund?.origin === 'reversal' && refund.status !== 'failed'
  return hasNone ? Promise.resolve([]) : findExceptions(reference)
}

async function* lateCompletions(
  status: 'open' | 'resolved',
  span?: Span,
): AsyncGenerator<Reference> {
  for await (const page of exceptionPages(status, span)) {
    for (const { kind, reference } of page) if (kind === 'late_completion') yield reference
  }
}

async function* decidedOrReported(span: Span): AsyncGenerator<Reference> {
  yield* lateCompletions('open', span)
  yield* lateCompletions('resolved', span)
  const calls = { ...span, from: new Date(span.from.getTime() - CALL_MS) }
  for await (const { target, changed } of changesWithin(calls)) {
    if ('resolved' in changed) yield target as Reference
  }
}
