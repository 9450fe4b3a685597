import type { Debit } from '../domain/debits/debit.ts'
import { exceptionKind, type ReportException } from '../domain/debits/exception.ts'
import { type CheckResult, checkResult } from './invariants.ts'

/**
 * Checks the record of a rejected bank report against its debit. The table does not tell how many
 * reports a bank sent; the metrics and the log do.
 */
export const isOfItsDebit = (record: ReportException, debit: Debit | undefined): CheckResult =>
  checkResult({
    'has an exception, but does not exist': debit === undefined,
    [`has a late completion, but is ${debit?.status}`]:
      debit !== undefined &&
      record.kind === 'late_completion' &&
      exceptionKind(debit.status, 'completed') !== 'late_completion',
    [`has an exception of ${record.bank}, which is not its bank`]:
      debit !== undefined && debit.facts.bank.identifier !== record.bank,
    [`has an exception over ${record.amount} pesewas, which is not its amount`]:
      debit !== undefined && debit.facts.amount !== record.amount,
  })
