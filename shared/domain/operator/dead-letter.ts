export type DeadLetter = {
  /** The id of the message, also in the log of its consumer. */
  id: string
  /** The time of the first send. */
  sentAt: Date
  /** `unsent`: Scheduler could not send the message; `failed`: the consumer's log has the cause. */
  kind: 'malformed' | 'unsent' | 'failed'
  /** The error of Scheduler's last attempt. */
  reason: string | null
  /** The ids in the message. */
  subject: Record<string, string>
}
