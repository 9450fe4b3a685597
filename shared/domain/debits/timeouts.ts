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
