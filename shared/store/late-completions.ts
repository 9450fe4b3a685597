import type { BankCallback } from '../domain/bank-update.ts'
import type { Cause, Debit } from '../domain/debit.ts'
import { keys, put } from './table.ts'

/**
 * A bank says that it debited a customer after the debit had failed here: somebody's money, which
 * a person must look after. One record for each such report.
 */
export const putLateCompletion = (
  { facts }: Debit,
  report: BankCallback,
  { at, by, requestId }: Cause,
): Promise<void> =>
  put(keys.lateCompletion(facts.reference, requestId), 'late-completion', {
    reference: facts.reference,
    partner: facts.partner,
    bank: facts.bank.identifier,
    amount: facts.amount,
    bankReference: report.bank_reference,
    ...(report.fee === undefined ? {} : { fee: report.fee }),
    at: at.toISOString(),
    by,
    requestId,
  })
