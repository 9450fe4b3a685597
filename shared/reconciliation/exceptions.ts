import type { Debit } from '../domain/debits/debit.ts'
import { exceptionKind, type ReportException } from '../domain/debits/exception.ts'
import { exceptionPages } from '../store/debits/exceptions.ts'
import type { Findings } from './findings.ts'
import { type CheckResult, checkResult } from './invariants.ts'
import { readDebits } from './read.ts'
import type { Window } from './window.ts'

/** Checks the exceptions of the day. Metrics and logs count the reports; the table cannot. */
export const checkExceptions = async (window: Window, findings: Findings): Promise<void> => {
  for (const status of ['open', 'resolved'] as const) {
    for await (const exceptions of exceptionPages(status, window)) {
      const debits = await readDebits(exceptions.map(({ reference }) => reference))
      for (const exception of exceptions) {
        const { provider, reference: subject } = exception
        findings.add(31, { provider, subject }, isOfItsDebit(exception, debits.get(subject)))
      }
    }
  }
}

const isOfItsDebit = (exception: ReportException, debit: Debit | undefined): CheckResult =>
  checkResult({
    'has an exception, but does not exist': debit === undefined,
    [`has a late completion, but is ${debit?.status}`]:
      debit !== undefined &&
      exception.kind === 'late_completion' &&
      exceptionKind(debit.status, 'completed') !== 'late_completion',
    [`has an exception of ${exception.bank}, which is not its bank`]:
      debit !== undefined && debit.facts.bank.identifier !== exception.bank,
    [`has an exception of ${exception.amount} pesewas, which is not its amount`]:
      debit !== undefined && debit.facts.amount !== exception.amount,
  })
