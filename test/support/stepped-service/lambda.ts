import type { DynamoDBRecord } from 'aws-lambda'
import { type JobName, jobNames, jobRow } from '../../../infra/definitions/jobs.ts'
import type { QueueName } from '../../../shared/queues/messages.ts'
import { mixed } from '../../../simulation/engine/random.ts'
import type { FunctionName } from './functions.ts'
import type { Queued, Queues } from './queues.ts'

/** What Lambda does for a stream and for queues: batches, and what failed of them comes again. */

type Failures = { batchItemFailures: { itemIdentifier: string }[] }
type Run = <R>(name: FunctionName, event: unknown) => Promise<R | undefined>

/** @returns undefined for a worker that died: all of its work has failed */
const failuresIn = (reply: Failures | undefined): Set<string> | undefined =>
  reply && new Set(reply.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))

const STREAM_BATCH = jobRow('relay').from.batchSize
const STREAM_RETRIES_MAX = 10

type Stream = {
  run: Run
  /** What was written since the last time, as often as it arrives. */
  readStream: () => Promise<DynamoDBRecord[]>
  /** Given where the order is a matter of chance. */
  chance: (() => number) | undefined
}

/** @returns a function that has the next batch relayed, and says whether there was one */
export const streamFeed = ({ run, readStream, chance }: Stream): (() => Promise<boolean>) => {
  let waiting: DynamoDBRecord[] = []
  let failures = 0
  return async () => {
    waiting.push(...(await readStream()))
    if (waiting.length === 0) return false
    if (chance) waiting = mixed(waiting, chance)
    const batch = waiting.slice(0, chance ? 1 + Math.floor(chance() * 4) : STREAM_BATCH)
    const failed = failuresIn(await run('relay', { Records: batch }))
    // From the first record that failed on, the batch comes again.
    const first = batch.findIndex(({ dynamodb }) => failed?.has(dynamodb?.SequenceNumber ?? ''))
    const whole = first === -1 ? batch.length : first
    const done = failed ? whole : 0
    waiting = waiting.slice(done)
    failures = done > 0 ? 0 : failures + 1
    if (failures > STREAM_RETRIES_MAX) throw new Error('The relay does not get on')
    return true
  }
}

const jobOf = (queue: QueueName): JobName => {
  const found = jobNames.find((name) => {
    const { from } = jobRow(name)
    return 'queues' in from && from.queues.includes(queue)
  })
  if (!found) throw new Error(`Nothing is fed from ${queue}`)
  return found
}

/** Gives some messages of one queue to its function. */
export const work = async (run: Run, queues: Queues, taken: readonly Queued[]): Promise<void> => {
  const [first] = taken
  if (!first) return
  const failed = failuresIn(await run(jobOf(first.queue), { Records: queues.receive(taken) }))
  queues.settle(taken, failed ?? new Set(taken.map(({ id }) => id)))
}

/** The next messages of one queue that anybody may take, as many as its function takes. */
export const visible = ({ queued }: Queues, now: number, chance?: () => number): Queued[] => {
  const ready = queued
    .filter(({ visibleAt }) => visibleAt <= now)
    .toSorted((a, b) => a.visibleAt - b.visibleAt)
  const first = ready[chance ? Math.floor(chance() * ready.length) : 0]
  if (!first) return []
  const others = ready.filter((one) => one.queue === first.queue && one !== first)
  return [first, ...others].slice(0, jobRow(jobOf(first.queue)).from.batchSize)
}
