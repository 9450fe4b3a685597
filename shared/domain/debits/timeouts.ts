export type Clocks = {
  /** After processed_at: fails a debit without approval. */
  approvalSeconds: number
  /** After created_at: fails a debit without outcome. */
  processingSeconds: number
  /** After created_at: a debit is not submitted any more, because its customer needs time to approve. */
  submissionSeconds: number
}

/** Returns five, ten and seven minutes, divided by the time scale of a sandbox (docs/api.md#timeouts). */
export const clocks = (timeScale: number): Clocks => ({
  approvalSeconds: 300 / timeScale,
  processingSeconds: 600 / timeScale,
  submissionSeconds: 420 / timeScale,
})
