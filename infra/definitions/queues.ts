import type { QueueName } from '../../shared/queues/messages.ts'
import { jobNames, jobRow } from './jobs.ts'

/** Settings of a queue, derived from the job that consumes it. */
export type QueueRow = {
  name: QueueName
  /** Six times the consumer's timeout, so that an in-flight message stays invisible. */
  visibilitySeconds: number
  retentionSeconds: number
  deadLetterRetentionSeconds: number
  maxReceiveCount: number
}

const DAY_SECONDS = 86_400

export const queueRows: QueueRow[] = jobNames.flatMap((job) => {
  const { from, timeoutSeconds, every } = jobRow(job)
  if (!('queues' in from)) return []
  const isEachMinute = every?.includes('rate(1 minute)')
  return from.queues.map((name) => ({
    name,
    visibilitySeconds: 6 * timeoutSeconds,
    // A message that is sent each minute is stale after two.
    retentionSeconds: isEachMinute ? 120 : 4 * DAY_SECONDS,
    // A dead letter keeps its first send time, so this must exceed the queue's own retention.
    deadLetterRetentionSeconds: 14 * DAY_SECONDS,
    // About eight minutes of retries, so that a short outage leaves no dead letters.
    maxReceiveCount: isEachMinute ? 3 : 12,
  }))
})

export const deadLetters = (queue: QueueName): string => `${queue}-dead-letters`
