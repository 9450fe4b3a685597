import type { DynamoDBRecord } from 'aws-lambda'
import { type JobName, jobNames, jobRow } from '../../infra/definitions/jobs.ts'
import { isFifo, type QueueName } from '../../shared/queues/messages.ts'
import type { Clock } from './clock.ts'
import type { Conditions } from './conditions.ts'
import type { Message, Queues } from './queues.ts'

/** Lambda's event source mappings: batches, concurrency limits and retries. */

/**
 * Invokes a function. `failed`: it crashed or threw, so every record of its batch failed. `throttled`: it
 * did not start.
 */
export type Invoke = (
  name: JobName,
  event: unknown,
) => Promise<{ kind: 'done'; value: unknown } | { kind: 'failed' | 'throttled' }>

type Failures = { batchItemFailures?: { itemIdentifier: string }[] }

/** Returns the ids of the failed records. @param all ids of the batch */
const failedOf = (
  result: Awaited<ReturnType<Invoke>>,
  all: readonly string[],
): ReadonlySet<string> => {
  if (result.kind !== 'done') return new Set(all)
  const { batchItemFailures = [] } = (result.value ?? {}) as Failures
  return new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
}

const jobOf = (queue: QueueName): JobName => {
  const job = jobNames.find((name) => {
    const { from } = jobRow(name)
    return 'queues' in from && from.queues.includes(queue)
  })
  if (!job) throw new Error(`No job reads ${queue}`)
  return job
}

type QueueSourceDeps = {
  invoke: Invoke
  queues: () => Queues
  clock: Clock
  conditions: Pick<Conditions, 'pick' | 'pollDelay' | 'workers'>
}

/** Invokes the jobs of queues, up to their concurrency limits. */
export const newQueueSource = ({ invoke, queues, clock, conditions }: QueueSourceDeps) => {
  const { pick, pollDelay, workers } = conditions
  const waiting = new Map<QueueName, Message[]>()
  const busy = new Map<QueueName, number>()
  /** The queues with a poll under way. */
  const polls = new Set<QueueName>()

  const work = async (job: JobName, queue: QueueName, received: readonly Message[]) => {
    busy.set(queue, (busy.get(queue) ?? 0) + 1)
    const result = await invoke(job, { Records: queues().receive(received) })
    busy.set(queue, (busy.get(queue) ?? 1) - 1)
    const ids = received.map(({ id }) => id)
    queues().settle(received, failedOf(result, ids))
    feed(queue)
  }

  /** Takes the first messages of groups, none of a group whose first one is delayed or in flight. */
  const takeInOrder = (ready: Message[], batchSize: number): Message[] => {
    const visible = new Set(ready.filter(({ isGone }) => !isGone))
    const inOrder = [...visible]
    const first = inOrder[pick(inOrder.length)]
    const groups = new Set([...(first ? [first] : []), ...inOrder].map(queues().groupOf))
    const taken: Message[] = []
    for (const group of groups) {
      for (const message of group) {
        if (taken.length === batchSize || !visible.delete(message)) break
        taken.push(message)
      }
    }
    ready.splice(0, ready.length, ...visible)
    return taken
  }

  const feed = (queue: QueueName): void => {
    const job = jobOf(queue)
    const { from } = jobRow(job)
    const ready = waiting.get(queue) ?? []
    const limit = workers('maxConcurrency' in from ? from.maxConcurrency : 1)
    while (ready.length > 0 && (busy.get(queue) ?? 0) < limit) {
      const received = isFifo(queue)
        ? takeInOrder(ready, from.batchSize)
        : ready.splice(pick(ready.length), from.batchSize).filter(({ isGone }) => !isGone)
      if (received.length > 0) void work(job, queue, received)
      // The first messages of all groups are delayed or in flight.
      else if (isFifo(queue)) return
    }
  }

  return {
    offer: (message: Message): void => {
      const ready = waiting.get(message.queue) ?? []
      waiting.set(message.queue, ready)
      if (!ready.includes(message)) ready.push(message)
      const delay = pollDelay()
      if (delay === 0) feed(message.queue)
      else if (!polls.has(message.queue)) {
        polls.add(message.queue)
        clock.after(delay, () => {
          polls.delete(message.queue)
          feed(message.queue)
        })
      }
    },
  }
}

/** A failed batch is retried so often; then it moves to the on-failure queue. Throttles do not count. */
const STREAM_RETRIES_MAX = 10
/** Lambda discards older records. */
const RECORD_SECONDS_MAX = 23 * 3_600

/** Returns the shard of a partition key. */
export const shardOf = (pk: string, shards: number): number => pk.charCodeAt(pk.length - 1) % shards

type StreamSourceDeps = {
  invoke: Invoke
  clock: Clock
  conditions: Conditions
  /** Shortens a batch that exceeds the size of an invocation. */
  fitting: (records: DynamoDBRecord[]) => DynamoDBRecord[]
  /** Called when records have been handled for good. */
  onHandled: (records: readonly DynamoDBRecord[]) => void
  onLost: (records: readonly DynamoDBRecord[]) => void
}

/** Reads the stream in order within a shard, and retries from the first failed record. */
export const newStreamSource = (deps: StreamSourceDeps) => {
  const { invoke, clock, conditions, fitting, onHandled, onLost } = deps
  const { batchSize } = jobRow('relay').from
  const shards = Array.from({ length: conditions.shards }, (_, number) => ({
    number,
    waiting: [] as DynamoDBRecord[],
    isBusy: false,
    failures: 0,
    halves: 0,
  }))

  const isExpired = ({ dynamodb }: DynamoDBRecord): boolean =>
    clock.now() / 1000 - Number(dynamodb?.ApproximateCreationDateTime) > RECORD_SECONDS_MAX

  const drop = (shard: (typeof shards)[number], count: number): void => {
    const lost = shard.waiting.splice(0, count)
    onHandled(lost)
    onLost(lost)
  }

  const read = async (shard: (typeof shards)[number]): Promise<void> => {
    const fresh = shard.waiting.findIndex((record) => !isExpired(record))
    if (fresh !== 0) drop(shard, fresh === -1 ? shard.waiting.length : fresh)
    if (fresh === -1) {
      shard.isBusy = false
      return
    }
    // A retry bisects the batch.
    const batch = fitting(shard.waiting.slice(0, Math.ceil(batchSize / 4 ** shard.halves)))
    const ids = batch.map(({ dynamodb }) => String(dynamodb?.SequenceNumber))
    const result = await invoke('relay', { Records: batch })
    const failed = failedOf(result, ids)
    const first = ids.findIndex((id) => failed.has(id))
    const done = first === -1 ? batch.length : first
    shard.isBusy = false
    shard.waiting.splice(0, done, ...batch.slice(conditions.repeatsFrom(done), done))
    onHandled(batch.slice(0, done))
    if (result.kind !== 'throttled') {
      shard.failures = done > 0 ? 0 : shard.failures + 1
      shard.halves = first === -1 ? 0 : shard.halves + 1
    }
    if (shard.failures > STREAM_RETRIES_MAX) {
      // Drops a record that fails alone; the sweep repairs its effects.
      drop(shard, 1)
      shard.failures = 0
    }
    wake(shard, first === -1 ? 0 : Math.min(1_000 * 2 ** shard.failures, 60_000))
  }

  const wake = (shard: (typeof shards)[number], delay: number): void => {
    if (shard.isBusy || shard.waiting.length === 0) return
    shard.isBusy = true
    clock.after(delay + conditions.readDelay(shard.number), () => void read(shard))
  }

  return {
    take: (record: DynamoDBRecord): void => {
      const pk = record.dynamodb?.Keys?.pk?.S ?? ''
      const shard = shards[shardOf(pk, shards.length)]
      if (!shard) return
      shard.waiting.push(record)
      wake(shard, 0)
    },
  }
}
