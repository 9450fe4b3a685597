import type { QueueName } from '../../shared/queues/messages.ts'
import type { Change } from './table/change.ts'

/** The delays, losses and repeats of a run. */
export type Conditions = {
  /** Returns the delays after which the copies of a sent message arrive, in milliseconds. */
  copies: (queue: QueueName, body: string) => readonly number[]
  /** Returns the milliseconds from a visible message until a poller returns it; 0: at once. */
  pollDelay: () => number
  /** Returns the number of concurrent batches of a queue that has so many in production. */
  workers: (count: number) => number
  /** Returns the position of the next batch among the visible messages. */
  pick: (count: number) => number
  /** Returns the instants at which a one-time schedule fires. */
  firings: (at: number, name: string) => readonly number[]
  losesRecord: (change: Change) => boolean
  shards: number
  /** Returns the milliseconds until the next read of a shard. */
  readDelay: (shard: number) => number
  /** Returns the position in the completed records from which the stream repeats them. */
  repeatsFrom: (completed: number) => number
  /** Returns the milliseconds until an index shows a change of an item. */
  indexLag: (index: string, item: string) => number
}

/** No delay, loss or repeat. */
export const faultless: Conditions = {
  copies: () => [0],
  pollDelay: () => 0,
  workers: (count) => count,
  pick: () => 0,
  firings: (at) => [at],
  losesRecord: () => false,
  shards: 1,
  readDelay: () => 0,
  repeatsFrom: (completed) => completed,
  indexLag: () => 0,
}
