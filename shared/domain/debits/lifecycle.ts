/** Statuses a debit can have (specification, Transaction statuses); `cancelled` is never produced. */
export type Status = 'pending' | 'processing' | 'completed' | 'failed' | 'reversed'

/** The whole lifecycle. A pair that is absent is error 3001. */
const transitions = {
  pending: ['processing', 'completed', 'failed'],
  processing: ['completed', 'failed'],
  completed: ['reversed'],
  failed: [],
  reversed: [],
} as const satisfies Record<Status, readonly Status[]>

export const statuses = Object.keys(transitions) as Status[]

export type TransitionCheck = 'move' | 'same' | 'refuse'

/** What becomes of a request to go from one status to another. */
export const checkTransition = (from: Status, to: Status): TransitionCheck => {
  if (from === to) return 'same'
  return (transitions[from] as readonly Status[]).includes(to) ? 'move' : 'refuse'
}

/** Neither completed nor failed yet: the clocks run. */
export const isOpen = (status: Status): boolean => status === 'pending' || status === 'processing'

/** Seconds a debit may take. */
export type Clocks = {
  /** From processed_at: no approval by then fails the debit. */
  approvalSeconds: number
  /** From created_at: no outcome by then fails the debit. */
  processingSeconds: number
}

/** Five and ten minutes (specification, Timeouts that change state); a sandbox may divide them. */
export const clocks = (timeScale: number): Clocks => ({
  approvalSeconds: 300 / timeScale,
  processingSeconds: 600 / timeScale,
})
