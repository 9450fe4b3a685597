import type { DebitEventName, Status } from '../domain/debits/lifecycle.ts'
import type { RefundOrigin } from '../domain/debits/refund.ts'
import type { DebitList } from '../store/keys.ts'

/** Repeats the lifecycle of a debit with values of its own, so that an error in the service's is found. */

/** The events that may follow an event. */
export const NEXT: Record<DebitEventName, readonly DebitEventName[]> = {
  created: ['pending'],
  pending: ['processing', 'completed', 'failed'],
  processing: ['completed', 'failed'],
  completed: ['reversed'],
  failed: [],
  reversed: [],
}

/** The end of an open debit. A debit has one. */
export const IS_OUTCOME: Record<DebitEventName, boolean> = {
  created: false,
  pending: false,
  processing: false,
  completed: true,
  failed: true,
  reversed: false,
}

export type StatusExpectation = {
  /** Whether a debit counts in its day's total. */
  isCounted: boolean
  /** The state of the money of a debit that its bank completed; null: the bank did not. */
  money: 'unsettled' | 'reversed' | null
  /** The refund that a debit can have. */
  refund: RefundOrigin | null
}

export const EXPECTED: Record<Status, StatusExpectation> = {
  pending: { isCounted: true, money: null, refund: null },
  processing: { isCounted: true, money: null, refund: null },
  completed: { isCounted: true, money: 'unsettled', refund: null },
  failed: { isCounted: false, money: null, refund: 'late_completion' },
  reversed: { isCounted: true, money: 'reversed', refund: 'reversal' },
}

/** The tasks that check the settlement of the debits of a list. */
const CHECKED_BY: Record<DebitList, readonly string[]> = {
  main: ['ended'],
  open: [],
  failed: [],
  reversed: ['ended', 'reversed'],
}

export const listsOf = (task: string) =>
  (Object.keys(CHECKED_BY) as DebitList[]).filter((list) => CHECKED_BY[list].includes(task))
