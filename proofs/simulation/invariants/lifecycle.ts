import type { ReportKind } from '../../../shared/domain/debits/exception.ts'
import type { DebitEventName, Status } from '../../../shared/domain/debits/lifecycle.ts'
import type { RefundOrigin } from '../../../shared/domain/debits/refund.ts'
import type { BankQuery } from '../engine/observations.ts'

/** The expectations of each status, with values of its own: the product's table is what is checked. */

type EventExpectation = {
  /** The actors that may write it, besides operators. */
  writers: readonly ('provider' | 'bank' | 'job')[]
  /** The verb by which operators write it; null: they do not. */
  verb: string | null
  retries: number
  /** A member of the event's data that others lack. */
  adds: 'error_details' | 'refund' | null
}

type Expectation = EventExpectation & {
  lists: readonly string[]
  /** Whether the bank gets the debit: always before the status, perhaps, or at no time. */
  submitted: 'always' | 'maybe' | 'never'
  isOutcome: boolean
  isCounted: boolean
  settlement: 'line' | 'adjustment' | null
  refund: RefundOrigin | null
  /** The replies of a bank that lead to it; null: banks do not. */
  replies: readonly BankQuery['answer'][] | null
  /** The reports that are rejected once a debit has had it, with the kind of exception. */
  rejects: Readonly<Record<string, ReportKind>>
}

const CREATED = { writers: ['provider'], verb: null, retries: 2, adds: null } as const

const OPEN = {
  ...CREATED,
  lists: ['good', 'open'],
  // Operators record outcomes, also of debits that were not sent.
  submitted: 'maybe',
  isOutcome: false,
  isCounted: true,
  settlement: null,
  refund: null,
  replies: null,
  rejects: {},
} as const

const OUTCOME = { ...OPEN, writers: ['bank', 'job'], retries: 10, isOutcome: true } as const

export const expectations: Record<Status, Expectation> = {
  pending: { ...OPEN },
  processing: {
    ...OPEN,
    ...{ writers: ['bank', 'job'], retries: 5, submitted: 'always', replies: ['accepted'] },
  },
  completed: {
    ...OUTCOME,
    ...{ verb: 'complete', lists: ['good'], settlement: 'line', replies: ['completed'] },
    rejects: { failed: 'contradiction', approved: 'refused_report' },
  },
  failed: {
    ...OUTCOME,
    ...{ verb: 'fail', adds: 'error_details', lists: ['failed'], isCounted: false },
    ...{ refund: 'late_completion', replies: ['failed', 'rejected'] },
    rejects: { completed: 'late_completion', approved: 'refused_report' },
  },
  reversed: {
    ...OPEN,
    ...{ writers: [], verb: 'reverse', retries: 5, adds: 'refund', lists: ['reversed'] },
    ...{ settlement: 'adjustment', refund: 'reversal', rejects: { completed: 'refused_report' } },
  },
}

export const statuses = Object.keys(expectations) as Status[]

export const eventExpectations: Record<DebitEventName, EventExpectation> = {
  created: CREATED,
  ...expectations,
}
