import type { DynamoDBRecord } from 'aws-lambda'
import { type JobName, jobNames, jobRow } from '../../infra/definitions/jobs.ts'
import type { QueueName } from '../../shared/queues/messages.ts'
import type { Clock } from '../engine/clock.ts'
import type { Faults } from '../engine/faults.ts'
import type { FunctionName } from '../engine/functions.ts'
import type { Random } from '../engine/random.ts'
import type { Run } from '../engine/warm-functions.ts'
import type { Message, Queues } from './queues.ts'

/** Lambda's event source mappings: batches, concurrency limits and retries. */

type Failures = { batchItemFailures: { itemIdentifier: string }[] }

/** @returns the failed items; all of them after a crash */
const failedOf = (result: Awaited<ReturnType<Run>>, all: readonly string[]): Set<string> =>
  new Set(
    result.kind === 'done'
      ? (result.value as Failures).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)
      : all,
  )

const jobOf = (queue: QueueName): JobName => {
  const job = jobNames.find((name) => {
    const { from } = jobRow(name)
    return 'queues' in from && from.queues.includes(queue)
  })
  if (!job) throw new Error(`No job reads ${queue}`)
  return job
}

type Feeding = { run: Run; queues: () => Queues; random: Random }

/** Invokes the jobs of queues, up to their concurrency limits. */
export const queueFeed = ({ run, queues, random }: Feeding) => {
  const waiting = new Map<QueueName, Message[]>()
  const busy = new Map<JobName, number>()

  const work = async (
    job: JobName,
    queue: QueueName,
    received: readonly Message[],
  ): Promise<void> => {
    busy.set(job, (busy.get(job) ?? 0) + 1)
    const records = queues().receive(received)
    const result = await run(job as FunctionName, { Records: records })
    busy.set(job, (busy.get(job) ?? 1) - 1)
    queues().settle(
      received,
      failedOf(
        result,
        received.map(({ id }) => id),
      ),
    )
    feed(queue)
  }

  const feed = (queue: QueueName): void => {
    const job = jobOf(queue)
    const { from } = jobRow(job)
    const ready = waiting.get(queue) ?? []
    const limit = 'maxConcurrency' in from ? from.maxConcurrency : 1
    while (ready.length > 0 && (busy.get(job) ?? 0) < limit) {
      const received = ready
        .splice(random.below(ready.length), from.batchSize)
        .filter(({ isGone }) => !isGone)
      if (received.length > 0) void work(job, queue, received)
    }
  }

  return {
    offer: (message: Message): void => {
      const ready = waiting.get(message.queue) ?? []
      waiting.set(message.queue, ready)
      if (!ready.includes(message)) ready.push(message)
      feed(message.queue)
    },
  }
}

const STREAM_RETRIES_MAX = 10
/** A small table has one shard; some runs have two. */
const SHARDS = [1, 1, 1, 2] as const

type Reading = {
  run: Run
  clock: Clock
  random: Random
  faults: Faults
}

/** Reads the stream in order within a shard, and retries from the first failed record. */
export const streamFeed = ({ run, clock, random, faults }: Reading) => {
  const { batchSize } = jobRow('relay').from
  const shards = Array.from({ length: random.pick(SHARDS) }, () => ({
    waiting: [] as DynamoDBRecord[],
    isBusy: false,
    failures: 0,
    halves: 0,
  }))

  const read = async (shard: (typeof shards)[number]): Promise<void> => {
    // A retry bisects the batch.
    const batch = shard.waiting.slice(0, Math.ceil(batchSize / 4 ** shard.halves))
    const ids = batch.map(({ dynamodb }) => String(dynamodb?.SequenceNumber))
    const failed = failedOf(await run('relay', { Records: batch }), ids)
    const first = ids.findIndex((id) => failed.has(id))
    const done = first === -1 ? batch.length : first
    shard.isBusy = false
    if (done > 0 && faults.strikes('record twice')) {
      shard.waiting.splice(0, done, ...batch.slice(random.below(done), done))
    } else shard.waiting.splice(0, done)
    shard.failures = done > 0 ? 0 : shard.failures + 1
    shard.halves = first === -1 ? 0 : shard.halves + 1
    if (shard.failures > STREAM_RETRIES_MAX) {
      // Drops a record that fails alone; the sweep repairs its effects.
      shard.waiting.splice(0, 1)
      shard.failures = 0
    }
    wake(shard, first === -1 ? 0 : Math.min(1_000 * 2 ** shard.failures, 60_000))
  }

  const wake = (shard: (typeof shards)[number], delay: number): void => {
    if (shard.isBusy || shard.waiting.length === 0) return
    shard.isBusy = true
    const late = faults.strikes('record late') ? random.between(0, 120_000) : 0
    clock.after(delay + late + random.between(20, 800), () => void read(shard))
  }

  return {
    take: (record: DynamoDBRecord, pk: string): void => {
      if (faults.strikes('record lost') || faults.loses('record')) return
      const shard = shards[pk.charCodeAt(pk.length - 1) % shards.length]
      if (!shard) return
      shard.waiting.push(record)
      wake(shard, 0)
    },
  }
}
