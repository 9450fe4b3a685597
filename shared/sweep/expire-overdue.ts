import { isOpen } from '../domain/debits/lifecycle.ts'
import { expiry, submission } from '../queues/outbox.ts'
import { sendAllOrThrow } from '../queues/send.ts'
import { findDebit } from '../store/debits/debits.ts'
import { expire } from './expire.ts'

/**
 * Expires a debit for the sweep, which has no message that SQS repeats. After a fault, a message repeats the
 * timeout, or the submission of a debit that another worker has ended, which queries the bank again
 * ({@link recoverCompletion}): the sweep may have read that the debit is completed.
 */
export const expireOverdue = async (...request: Parameters<typeof expire>): Promise<void> => {
  try {
    await expire(...request)
  } catch (error) {
    const [{ facts }, phase] = request
    const { reference } = facts
    const current = await findDebit(reference)
    await sendAllOrThrow([
      current && isOpen(current.status)
        ? expiry({ reference, phase })
        : submission(facts, { resubmission: true }),
    ])
    throw error
  }
}
