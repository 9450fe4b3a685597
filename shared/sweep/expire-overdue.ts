import { isOpen } from '../domain/debits/lifecycle.ts'
import { submission } from '../queues/outbox.ts'
import { sendAllOrThrow } from '../queues/send.ts'
import { findDebit } from '../store/debits/debits.ts'
import { expire } from './expire.ts'

/**
 * Expires a debit for the sweep, which has no message that SQS repeats. After a fault, the submission of a
 * debit that another worker has ended is repeated, which queries the bank again ({@link recoverCompletion}).
 */
export const expireOverdue = async (...request: Parameters<typeof expire>): Promise<void> => {
  try {
    await expire(...request)
  } catch (error) {
    const [{ facts }] = request
    const current = await findDebit(facts.reference)
    if (current && !isOpen(current.status))
      await sendAllOrThrow([submission(facts, { resubmission: true })])
    throw error
  }
}
