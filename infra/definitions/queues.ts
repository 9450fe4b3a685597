import type { QueueName } from '../../shared/queues/messages.ts'
import { jobNames, jobRow } from './jobs.ts'

/** Every queue, as the job that it feeds needs it. */
export type QueueRow = {
  name: QueueName
  /** Six times the consumer's timeout, so that no second worker starts on a message in work. */
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
    // What comes each minute is stale after two.
    retentionSeconds: isEachMinute ? 120 : 4 * DAY_SECONDS,
    // A dead letter keeps the age it had, so it must outlive the queue it came from by far.
    deadLetterRetentionSeconds: 14 * DAY_SECONDS,
    // Some eight minutes of repeats: an outage that passes leaves nothing among the dead letters.
    maxReceiveCount: isEachMinute ? 3 : 12,
  }))
})

export const deadLetters = (queue: QueueName): string => `${queue}-dead-letters`
