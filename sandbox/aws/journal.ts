import type { QueueName } from '../../shared/queues/messages.ts'
import type { ClockSetting } from './clock.ts'
import type { Change, Item } from './table/change.ts'

export type SentMessage = {
  id: string
  queue: QueueName
  body: string
  group?: string
  /** The id by which a FIFO queue accepts a message once. */
  deduplicationId?: string
  attributes?: Readonly<Record<string, object>>
  /** A dead letter: SQS has moved it, or a sender without another way has sent it. */
  dead?: 'moved' | 'sent'
  /** Instants are milliseconds since 1970. */
  sentAt: number
  visibleAt: number
}

export type Schedule = {
  Name: string
  ScheduleExpression: string
  Target: { Arn: string; Input: string }
}

/** The bytes of the body are the characters of `body`. */
export type StoredObject = { key: string; type: string; disposition: string; body: string }

/** A version of the sealing key. */
export type SecretVersion = { id: string; text: string; stages: readonly string[] }

/** One change of the state, in the order in which callers learned of them. */
export type Entry =
  /** The changes of one transaction. */
  | { changes: readonly Change[] }
  /** The sequence numbers of changes that the stream has delivered. */
  | { handled: readonly number[] }
  /** A change that the stream has not delivered, and an item of the table, in a compacted journal. */
  | { undelivered: Change }
  | { item: Item }
  | { sent: SentMessage }
  /** The id of a message. */
  | { removed: string }
  | { schedule: Schedule }
  | { unscheduled: string }
  | { object: StoredObject }
  | { clock: ClockSetting }
  /** All versions. */
  | { secret: readonly SecretVersion[] }

/** Records each change before its caller learns of it. */
export type Journal = {
  /** Distinguishes the ids of this process from those of earlier ones. */
  generation: number
  write: (entry: Entry) => void
}

export const noJournal: Journal = { generation: 0, write: () => undefined }
