import { createHash } from 'node:crypto'
import { isFifo, type QueueName } from '../../shared/queues/messages.ts'
import type { SentMessage } from './journal.ts'

/** FIFO queues: groups, and messages that are accepted once. */

export type Members = Pick<SentMessage, 'group' | 'deduplicationId' | 'attributes'>

/** @returns the id of the message */
export type Put = (
  queue: QueueName,
  body: string,
  delaySeconds?: number,
  members?: Members,
) => string

/** A FIFO queue accepts a deduplication id only once in this time; by default, the hash of the body. */
const DEDUPLICATION_MS = 300_000

/** The messages of each group of a FIFO queue, in the order of their arrival. */
export const newGroups = <M extends SentMessage>() => {
  const groups = new Map<string, M[]>()
  const of = ({ queue, group }: Pick<SentMessage, 'queue' | 'group'>): M[] => {
    const key = `${queue} ${group}`
    const messages = groups.get(key) ?? []
    groups.set(key, messages)
    return messages
  }
  return {
    of,
    add: (message: M): void => {
      if (isFifo(message.queue)) of(message).push(message)
    },
    remove: (message: M): void => {
      if (!isFifo(message.queue)) return
      const group = of(message)
      group.splice(group.indexOf(message), 1)
    },
  }
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

type FifoMembers = Members & Required<Pick<Members, 'group' | 'deduplicationId'>>

/** Returns a function that sends a message to a group only once in some time. */
export const deduplicated = (put: Put, now: () => number) => {
  /** The id and the end of the deduplication of a message. */
  const recent = new Map<string, { id: string; until: number }>()
  /** Returns the id of an earlier message with the same group and deduplication id. */
  return (queue: QueueName, body: string, members: FifoMembers): string => {
    const key = `${queue} ${members.group} ${members.deduplicationId}`
    const earlier = recent.get(key)
    if (earlier && earlier.until > now()) return earlier.id
    for (const [expired, { until }] of recent) {
      if (until > now()) break
      recent.delete(expired)
    }
    const id = put(queue, body, 0, members)
    recent.set(key, { id, until: now() + DEDUPLICATION_MS })
    return id
  }
}
