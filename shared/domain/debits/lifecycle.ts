/** The end of an open debit that is missing; null: the debit has ended, and no timeout applies. */
export type WaitsFor = 'submission' | 'outcome' | null

/** An event of a debit (docs/api.md#event-types). */
type EventRow = {
  event: `transaction.${string}`
  priority: 'low' | 'medium' | 'high'
  /** Attempts after the first. */
  retries: number
  /** A member of its data that other events lack (docs/api.md#payload). */
  adds: 'error_details' | 'refund' | null
  /** The names of its metrics, and its share in `FailureExcess` of the bank; null: none. */
  metrics: { count: string; pesewas: string | null; excess?: 1 | -1 } | null
  waitsFor: WaitsFor
}

type StatusRow = EventRow & {
  /** The allowed transitions (docs/api.md#transitions). Any other is error 3001. */
  next: readonly string[]
  /** Its list in the index by-status (store/debits/status-lists.ts). */
  list: 'main' | 'own'
  /** Whether a bank can list its debits alone (docs/api.md#bank-list). */
  isBankFilter: boolean
  /** Whether its amount counts in the daily limit (docs/api.md#daily-limit). */
  isCounted: boolean
  /** `settle`: the debit gets a line. `adjust`: its line, if it has one, gets an adjustment. */
  settlement: 'settle' | 'adjust' | 'none'
  /** The kind of exception (exception.ts) that a rejected report of each outcome becomes. */
  rejects: { completed: string; failed: string }
}

/** The statuses of a debit (docs/api.md#statuses). Code that depends on a status asks its row. */
export const lifecycle = {
  pending: {
    next: ['processing', 'completed', 'failed'],
    waitsFor: 'submission',
    list: 'main',
    isBankFilter: true,
    isCounted: true,
    settlement: 'none',
    rejects: { completed: 'refused_report', failed: 'refused_report' },
    event: 'transaction.pending',
    priority: 'low',
    retries: 2,
    adds: null,
    metrics: null,
  },
  processing: {
    next: ['completed', 'failed'],
    waitsFor: 'outcome',
    list: 'main',
    isBankFilter: true,
    isCounted: true,
    settlement: 'none',
    rejects: { completed: 'refused_report', failed: 'refused_report' },
    event: 'transaction.processing',
    priority: 'medium',
    retries: 5,
    adds: null,
    metrics: null,
  },
  completed: {
    next: ['reversed'],
    waitsFor: null,
    list: 'main',
    isBankFilter: true,
    isCounted: true,
    settlement: 'settle',
    // The bank withdraws a completion that the provider relies on.
    rejects: { completed: 'refused_report', failed: 'contradiction' },
    event: 'transaction.completed',
    priority: 'high',
    retries: 10,
    adds: null,
    metrics: { count: 'DebitsCompleted', pesewas: 'CompletedPesewas', excess: -1 },
  },
  failed: {
    next: [],
    waitsFor: null,
    list: 'own',
    isBankFilter: true,
    isCounted: false,
    settlement: 'none',
    // The bank debited the customer, and the provider believes that it did not.
    rejects: { completed: 'late_completion', failed: 'refused_report' },
    event: 'transaction.failed',
    priority: 'high',
    retries: 10,
    adds: 'error_details',
    metrics: { count: 'DebitsFailed', pesewas: null, excess: 1 },
  },
  reversed: {
    next: [],
    waitsFor: null,
    list: 'own',
    isBankFilter: false,
    isCounted: true,
    settlement: 'adjust',
    rejects: { completed: 'refused_report', failed: 'contradiction' },
    event: 'transaction.reversed',
    priority: 'medium',
    retries: 5,
    adds: 'refund',
    metrics: { count: 'DebitsReversed', pesewas: null },
  },
} as const satisfies Record<string, StatusRow>

export type Status = keyof typeof lifecycle
export const statuses = Object.keys(lifecycle) as Status[]

const created = {
  waitsFor: null,
  event: 'transaction.created',
  priority: 'low',
  retries: 2,
  adds: null,
  metrics: { count: 'DebitsCharged', pesewas: 'ChargedPesewas' },
} as const satisfies EventRow

/** The events of a debit: its creation, which is no status, and each status. */
export const debitEventTypes = { created, ...lifecycle }
export type DebitEventName = keyof typeof debitEventTypes
export const debitEventNames = Object.keys(debitEventTypes) as DebitEventName[]

export const checkTransition = (from: Status, to: Status): 'allowed' | 'unchanged' | 'refused' => {
  if (from === to) return 'unchanged'
  const next: readonly Status[] = lifecycle[from].next
  return next.includes(to) ? 'allowed' : 'refused'
}

/** Reports whether timeouts still apply. */
export const isOpen = (status: Status): boolean => lifecycle[status].waitsFor !== null

/** Reports whether no bank has received the debit, as far as the service knows. */
export const isUnsubmitted = (status: Status): boolean =>
  lifecycle[status].waitsFor === 'submission'

type ListedAlone = {
  [S in Status]: (typeof lifecycle)[S]['list'] extends 'own' ? S : never
}[Status]

export const hasOwnList = (status: Status): status is ListedAlone =>
  lifecycle[status].list === 'own'

/** The statuses whose debits have lists of their own. */
export const listedAlone = statuses.filter(hasOwnList)
