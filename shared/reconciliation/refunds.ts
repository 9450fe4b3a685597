import type { Debit } from '../domain/debits/debit.ts'
import type { Refund } from '../domain/debits/refund.ts'
import { refundPages } from '../store/debits/refunds.ts'
import type { Findings } from './findings.ts'
import { type CheckResult, checkResult, notApplicable } from './invariants.ts'
import { readDebits } from './read.ts'
import { type DebitRecord, timeOf } from './related.ts'
import { isTooOld, type Window } from './window.ts'

/** Refunds and their debits. */

export const hasRefund = ({ debit, refund }: DebitRecord): CheckResult =>
  debit.status === 'reversed' && timeOf(debit, 'completed')
    ? checkResult({ 'is reversed, but has no refund': refund === undefined })
    : notApplicable

/** Checks each refund that has not completed, and those that completed on the day. */
export const checkRefunds = async (terms: Window, tally: Findings): Promise<void> => {
  const { from, before, now } = terms
  const lists = [
    refundPages('due', { from: new Date(0), before: now }),
    refundPages('completed', { from, before }),
  ]
  for (const pages of lists) {
    for await (const refunds of pages) {
      const debits = await readDebits(refunds.map(({ reference }) => reference))
      for (const refund of refunds) {
        const { provider, reference: subject } = refund
        tally.add(39, { provider, subject }, isOfItsDebit(refund, debits.get(subject), terms))
      }
    }
  }
}

const isOfItsDebit = (refund: Refund, debit: Debit | undefined, terms: Window): CheckResult => {
  const { status, origin, amount, bank, createdAt, processedAt, bankReference } = refund
  const since = processedAt ?? createdAt
  const owedIn = origin === 'reversal' ? 'reversed' : 'failed'
  const isOpen = status === 'pending' || status === 'processing'
  return checkResult({
    'has a refund, but does not exist': debit === undefined,
    [`is ${debit?.status}, but has a refund after ${origin}`]:
      debit !== undefined && debit.status !== owedIn,
    [`is refunded ${amount} pesewas, which is not its amount`]:
      debit !== undefined && debit.facts.amount !== amount,
    [`is refunded by ${bank}, which is not its bank`]:
      debit !== undefined && debit.facts.bank.identifier !== bank,
    [`has a refund that has been ${status} since ${since.toISOString()}`]:
      isOpen && isTooOld(since, terms),
    'is refunded without a bank reference': status === 'completed' && bankReference === null,
  })
}
