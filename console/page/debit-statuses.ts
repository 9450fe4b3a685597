import type { Status } from '../../shared/domain/debits/lifecycle.ts'

export type Tone = 'good' | 'bad' | 'warn' | 'other'

/**
 * The display of each status of a debit: the heading of its event, the calls that the page offers, and whether
 * the chart of debits counts it as a failure.
 */
export const debitStatuses = {
  pending: { title: 'Pending', tone: 'warn', offers: 'outcome', isFailure: false },
  processing: { title: 'Submitted to the bank', tone: 'warn', offers: 'outcome', isFailure: false },
  completed: { title: 'Completed', tone: 'good', offers: 'reversal', isFailure: false },
  failed: { title: 'Failed', tone: 'bad', offers: null, isFailure: true },
  reversed: { title: 'Reversed', tone: 'other', offers: null, isFailure: false },
} as const satisfies Record<Status, object>

/** Finds the display of a word; others than statuses of a debit have none. */
export const displayOf = (word: string) =>
  Object.entries(debitStatuses).find(([status]) => status === word)?.[1]
