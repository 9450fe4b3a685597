import type { Debit } from '../domain/debit.ts'
import type { LateCompletion } from '../store/late-completions.ts'
import { type Verdict, verdict } from './invariants.ts'

/**
 * A record of a bank's late word must be of a failed debit of that bank. How often banks were
 * refused stands in no table: the metric and the log tell that.
 */
export const isLate = (record: LateCompletion, debit: Debit | undefined): Verdict =>
  verdict({
    'was reported as completed late, and is not there': debit === undefined,
    [`was reported as completed late, but is ${debit?.status}`]:
      debit !== undefined && debit.status !== 'failed',
    [`was reported as completed late by ${record.bank}, whose debit it is not`]:
      debit !== undefined && debit.facts.bank.identifier !== record.bank,
    [`was reported as completed late with ${record.amount} pesewas, but is of another amount`]:
      debit !== undefined && debit.facts.amount !== record.amount,
  })
