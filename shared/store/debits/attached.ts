import type { Debit } from '../../domain/debits/debit.ts'
import { findRequest } from './exceptions.ts'
import { findRefundOf } from './refunds.ts'

/** Reads the refund and the request of a debit, which are items of their own; null where it has none. */
export const findAttached = async (debit: Debit) => {
  const [refund, request] = await Promise.all([findRefundOf(debit), findRequest(debit)])
  return { refund, request }
}
