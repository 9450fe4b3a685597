import type { DynamoDBRecord } from 'aws-lambda'
import { type JobName, jobNames, jobRow } from '../../../infra/definitions/jobs.ts'
import type { QueueName } from '../../../shared/queues/messages.ts'
import type { Message, Queues } from './queues.ts'

/** The event source mappings of Lambda: they pass batches to jobs and retry the failed records. */

type Failures = { batchItemFailures: { itemIdentifier: string }[] }
type Run = <R>(name: JobName, event: unknown) => Promise<R>

const STREAM_BATCH = jobRow('relay').from.batchSize
const STREAM_RETRIES_MAX = 10

/** Returns a function that relays the next batch of the stream; false: there was none. */
export const streamFeed = (
  run: Run,
  readStream: () => Promise<DynamoDBRecord[]>,
): (() => Promise<boolean>) => {
  let waiting: DynamoDBRecord[] = []
  let failures = 0
  return async () => {
    waiting.push(...(await readStream()))
    if (waiting.length === 0) return false
    const batch = waiting.slice(0, STREAM_BATCH)
    const failed = await failedIn(run('relay', { Records: batch }))
    // Lambda retries a stream batch from its first failed record.
    const first = batch.findIndex(({ dynamodb }) => failed.has(dynamodb?.SequenceNumber ?? ''))
    const done = first === -1 ? batch.length : first
    waiting = waiting.slice(done)
    failures = done > 0 ? 0 : failures + 1
    if (failures > STREAM_RETRIES_MAX) throw new Error('The relay fails again and again')
    return true
  }
}

/** Passes the next visible messages of one queue to its job; false: there were none. */
export const queueFeed =
  (run: Run, queues: Queues, now: () => number) => async (): Promise<boolean> => {
    const visible = queues.queued
      .filter(({ visibleAt }) => visibleAt <= now())
      .toSorted((a, b) => a.visibleAt - b.visibleAt)
    const [first] = visible
    if (!first) return false
    const job = jobOf(first.queue)
    const batch: Message[] = visible
      .filter(({ queue }) => queue === first.queue)
      .slice(0, jobRow(job).from.batchSize)
    queues.settle(batch, await failedIn(run(job, { Records: queues.receive(batch) })))
    return true
  }

const failedIn = async (reply: Promise<Failures>): Promise<Set<string>> =>
  new Set((await reply).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))

const jobOf = (queue: QueueName): JobName => {
  const job = jobNames.find((name) => {
    const { from } = jobRow(name)
    return 'queues' in from && from.queues.includes(queue)
  })
  if (!job) throw new Error(`No job reads ${queue}`)
  return job
}
