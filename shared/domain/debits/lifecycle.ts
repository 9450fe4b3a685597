/** The statuses of a debit (docs/api.md#statuses); the service never produces `cancelled`. */
export type Status = 'pending' | 'processing' | 'completed' | 'failed' | 'reversed'

/** The allowed transitions (docs/api.md#transitions). Any other pair is error 3001. */
const transitions = {
  pending: ['processing', 'completed', 'failed'],
  processing: ['completed', 'failed'],
  completed: ['reversed'],
  failed: [],
  reversed: [],
} as const satisfies Record<Status, readonly Status[]>

export const statuses = Object.keys(transitions) as Status[]

export type TransitionCheck = 'allowed' | 'unchanged' | 'refused'

export const checkTransition = (from: Status, to: Status): TransitionCheck => {
  if (from === to) return 'unchanged'
  return (transitions[from] as readonly Status[]).includes(to) ? 'allowed' : 'refused'
}

/** Reports whether timeouts still apply. */
export const isOpen = (status: Status): boolean => status === 'pending' || status === 'processing'

export type Clocks = {
  /** After processed_at: fails a debit without approval. */
  approvalSeconds: number
  /** After created_at: fails a debit without outcome. */
  processingSeconds: number
}

/** Returns five and ten minutes, divided by the time scale of a sandbox (docs/api.md#timeouts). */
export const clocks = (timeScale: number): Clocks => ({
  approvalSeconds: 300 / timeScale,
  processingSeconds: 600 / timeScale,
})
