import type { Status } from '../../shared/domain/debits/lifecycle.ts'

export type Tone = 'good' | 'bad' | 'warn' | 'other'

type StatusDisplay = {
  /** The heading of its event. */
  title: string
  tone: Tone
  /** The calls that the page offers. */
  offers: 'outcome' | 'reversal' | null
  /** The chart of debits counts it as a failure. */
  isFailure: boolean
}

/** The display of each status of a debit. */
export const debitStatuses: Record<Status, StatusDisplay> = {
  pending: { title: 'Pending', tone: 'warn', offers: 'outcome', isFailure: false },
  processing: { title: 'Submitted to the bank', tone: 'warn', offers: 'outcome', isFailure: false },
  completed: { title: 'Completed', tone: 'good', offers: 'reversal', isFailure: false },
  failed: { title: 'Failed', tone: 'bad', offers: null, isFailure: true },
  reversed: { title: 'Reversed', tone: 'other', offers: null, isFailure: false },
}

/** Finds the display of a word; others than statuses of a debit have none. */
export const displayOf = (word: string): StatusDisplay | undefined =>
  Object.entries(debitStatuses).find(([status]) => status === word)?.[1]
