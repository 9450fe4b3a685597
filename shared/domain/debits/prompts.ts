import type { ProviderId } from '../providers/provider.ts'
import { advance, type Cause, type Debit, stateAt } from './debit.ts'
import { lifecycle } from './lifecycle.ts'

/** Approval prompts on a customer's phone (docs/api.md#approval-prompts). */

/** A prompt lives ten minutes at most. */
export const PROMPT_SECONDS = 600

/** Returns the share of one provider, three fifths, so that none takes the prompts of all others. */
const shareOf = (promptsMax: number): number => Math.ceil((promptsMax * 3) / 5)

/**
 * Reports whether no further prompt is allowed. Of the debits of one provider at most its share counts,
 * because the service refuses the others, also if it has not yet.
 * @param earlier the providers of the earlier debits of the same bank and phone number
 */
export const isPromptRefused = (
  earlier: readonly ProviderId[],
  provider: ProviderId,
  promptsMax: number,
): boolean => {
  const share = shareOf(promptsMax)
  const counts = [...Map.groupBy(earlier, (id) => id)].map(([id, { length }]) => ({
    isOwn: id === provider,
    count: Math.min(length, share),
  }))
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  return total >= promptsMax || counts.some(({ isOwn, count }) => isOwn && count === share)
}

/** Reports whether the bank accepted a debit, or completed it, since a time. */
export const isPromptedSince = (debit: Debit, since: Date): boolean => {
  const { processedAt, completedAt } = stateAt(debit)
  const at = processedAt ?? completedAt
  return at !== null && at >= since
}

const REFUSED_MESSAGE = 'Too many approval requests for this customer'
const REFUSED_BY = 'job:submit-to-bank'

/** Fails a pending debit that was not submitted. Returns the same object if it is no longer pending. */
export const refusePrompt = (debit: Debit, cause: Omit<Cause, 'by'>): Debit => {
  if (lifecycle[debit.status].waitsFor !== 'submission') return debit
  const changes = { errorMessage: REFUSED_MESSAGE, errorCode: 'transaction_declined' } as const
  const failed = advance(debit, { ...cause, by: REFUSED_BY, to: 'failed', changes })
  return failed as Debit
}

/** Reports whether the service refused the prompt of a debit. A bank can send the same message. */
export const isUnprompted = ({ history }: Pick<Debit, 'history'>): boolean => {
  const last = history.at(-1)
  return last?.by === REFUSED_BY && last.changes.errorMessage === REFUSED_MESSAGE
}

/** Reports whether the customer declined a prompt or let it time out. */
export const isUnwanted = (debit: Debit): boolean => {
  const { processedAt, errorCode } = stateAt(debit)
  const isRefused = errorCode === 'transaction_declined' || errorCode === 'timeout'
  return isRefused && processedAt !== null && !debit.approval
}
