import type { ReportException } from '../domain/debits/exception.ts'
import type { Refund } from '../domain/debits/refund.ts'
import type { Reference } from '../domain/ids.ts'
import { exceptionPages, findExceptions } from '../store/debits/exceptions.ts'
import { findRefunds, refundPages } from '../store/debits/refunds.ts'
import { changesWithin } from '../store/operator/changes.ts'
import type { Case } from './entries.ts'
import type { Span } from './entry.ts'

/** After every time that is stored. */
const ALWAYS = new Date('9999-01-01')

/** A change is recorded at the time of its call, and a function ends within this time after it. */
const CALL_MS = 900_000

/**
 * Returns the refunds, late completions and decisions of which anything may have happened since a
 * time, by the reference of their debit. They are few: each is read with all that belongs to it.
 */
export const casesSince = async (from: Date): Promise<Map<Reference, Case>> => {
  const span = { from, before: ALWAYS }
  const references = new Set<Reference>()
  for (const list of ['due', 'completed'] as const) {
    for await (const page of refundPages(list, span)) {
      for (const { reference } of page) references.add(reference)
    }
  }
  for await (const reference of decidedOrReported(span)) references.add(reference)
  return casesOf(references)
}

/** Returns what is open, whenever it began: refunds that are due or failed, undecided reports. */
export const openCases = async (): Promise<Map<Reference, Case>> => {
  const references = new Set<Reference>()
  for await (const page of refundPages('due', { from: new Date(0), before: ALWAYS })) {
    for (const { reference } of page) references.add(reference)
  }
  for await (const page of exceptionPages('open')) {
    for (const { kind, reference } of page)
      if (kind === 'late_completion') references.add(reference)
  }
  return casesOf(references)
}

const casesOf = async (references: ReadonlySet<Reference>): Promise<Map<Reference, Case>> => {
  const refunds = await findRefunds([...references])
  const found = new Map(refunds.map((refund) => [refund.reference, refund]))
  const cases = new Map<Reference, Case>()
  for (const reference of references) {
    const refund = found.get(reference)
    cases.set(reference, { refund, exceptions: await exceptionsOf(reference, refund) })
  }
  return cases
}

/** Only a late completion or a failed refund has exceptions that the ledger reads. */
const exceptionsOf = (
  reference: Reference,
  refund: Refund | undefined,
): Promise<ReportException[]> => {
  const hasNone = refund?.origin === 'reversal' && refund.status !== 'failed'
  return hasNone ? Promise.resolve([]) : findExceptions(reference)
}

async function* decidedOrReported(span: Span): AsyncGenerator<Reference> {
  for (const status of ['open', 'resolved'] as const) {
    for await (const page of exceptionPages(status, span)) {
      for (const { kind, reference } of page) if (kind === 'late_completion') yield reference
    }
  }
  const calls = { ...span, from: new Date(span.from.getTime() - CALL_MS) }
  for await (const { target, changed } of changesWithin(calls)) {
    if ('resolved' in changed) yield target as Reference
  }
}
