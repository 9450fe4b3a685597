import type { BankIdentifier } from '../domain/banks/bank.ts'
import { isOfFailedRefund } from '../domain/debits/exception.ts'
import { isOpen, statuses } from '../domain/debits/lifecycle.ts'
import { type Refund, refundStatuses } from '../domain/debits/refund.ts'
import { END_OF_TIME } from '../domain/time.ts'
import { logUnreadable } from '../log.ts'
import { searchDebits } from '../store/debits/debit-search.ts'
import { findExceptions } from '../store/debits/exceptions.ts'
import { refundPages } from '../store/debits/refunds.ts'
import { listProviders } from '../store/providers/providers.ts'
import { listUnpaid } from '../store/settlement/batches.ts'

/**
 * Names a debit, payout or refund about which the service still asks a bank by its uuid; undefined without
 * one. A retry asks about all that the bank has rejected.
 */
export const findWorkAt = async (bank: BankIdentifier): Promise<string | undefined> =>
  (await findDebitAt(bank)) ?? (await findPayoutAt(bank)) ?? (await findRefundAt(bank))

const findDebitAt = async (bank: BankIdentifier): Promise<string | undefined> => {
  for (const status of statuses.filter(isOpen)) {
    const place = { before: undefined, limit: 1, timeIsUp: () => false }
    const page = await searchDebits({ bank, status }, place, logUnreadable('work at a bank'))
    const [debit] = page.debits
    if (debit) return `debit ${debit.facts.reference} is ${status}`
  }
  return undefined
}

const findPayoutAt = async (bank: BankIdentifier): Promise<string | undefined> => {
  for (const provider of await listProviders()) {
    const sent = (await listUnpaid(provider)).find(({ paidTo, failed = [] }) =>
      [...failed.map((rejected) => rejected.paidTo), paidTo].some((one) => one?.bank === bank),
    )
    if (sent) return `the payout of ${sent.id} is ${sent.status}`
  }
  return undefined
}

const ALL_TIMES = { from: new Date(0), before: END_OF_TIME }

const findRefundAt = async (bank: BankIdentifier): Promise<string | undefined> => {
  for await (const page of refundPages('due', ALL_TIMES)) {
    for (const refund of page) {
      const { status, reference } = refund
      if (refund.bank === bank && (refundStatuses[status].isOpen || !(await hasNote(refund))))
        return `the refund of ${reference} is ${status}`
    }
  }
  return undefined
}

/** A note ends a failed refund. */
const hasNote = async (refund: Refund): Promise<boolean> =>
  (await findExceptions(refund.reference)).some(
    (one) => isOfFailedRefund(refund, one) && one.resolvedAt !== undefined,
  )
