import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { DynamoDBRecord } from 'aws-lambda'
import type { Debit } from '../../shared/domain/debit.ts'
import type { Delivery } from '../../shared/domain/delivery.ts'
import { eventTypes } from '../../shared/domain/event-type.ts'
import { streamReader } from '../../shared/queues/consume.ts'
import { type Outgoing, sendAll } from '../../shared/queues/send.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { fromDebitItem } from '../../shared/store/debit-item.ts'
import { fromDeliveryItem } from '../../shared/store/deliveries.ts'

/**
 * From the table's stream to the queues: the stream is the outbox, so whatever was written is
 * acted on, and nothing is written and then announced. A record may come twice and late; every
 * consumer bears that.
 */
export const relay = (runtime: Pick<Runtime, 'now'>) =>
  streamReader(async (record) => {
    const refused = await sendAll(follow(record, runtime.now()))
    if (refused.length > 0) throw new Error(`SQS refused ${refused.length} messages`)
  })

type Image = Parameters<typeof unmarshall>[0]

const follow = ({ dynamodb }: DynamoDBRecord, now: Date): Outgoing[] => {
  const item = dynamodb?.NewImage && unmarshall(dynamodb.NewImage as Image)
  const old = dynamodb?.OldImage && unmarshall(dynamodb.OldImage as Image)
  switch (item?.entity) {
    case 'debit':
      return followDebit(fromDebitItem(item), old ? fromDebitItem(old).history.length : 0)
    case 'delivery':
      return followDelivery(fromDeliveryItem(item), now)
    default:
      return []
  }
}

/** @param known how many events the debit had before this write */
const followDebit = ({ facts, history }: Debit, known: number): Outgoing[] => {
  const added = history.slice(known)
  const last = added.at(-1)
  if (!last) return []
  const { reference, partner, bank } = facts
  const through = history.length - 1
  const webhook: Outgoing = {
    queue: `webhooks-${eventTypes[last.type].priority}`,
    message: { reference, n: known, attempt: 1, ...(through > known ? { through } : {}) },
    group: partner,
  }
  const clock = (phase: 'approval' | 'processing'): Outgoing => ({
    queue: 'timeouts',
    message: { reference, phase },
    group: partner,
  })
  const submission: Outgoing = {
    queue: 'submissions',
    message: { reference },
    group: bank.identifier,
  }
  return [
    webhook,
    ...added.flatMap(({ type }) => {
      if (type === 'pending') return [submission, clock('processing')]
      return type === 'processing' ? [clock('approval')] : []
    }),
  ]
}

/** A failed attempt that is to be followed by another one. */
const followDelivery = (delivery: Delivery, now: Date): Outgoing[] => {
  const { status, nextAttemptAt, reference, n, partner, event, attemptCount } = delivery
  if (status !== 'failed' || !nextAttemptAt) return []
  return [
    {
      queue: `webhooks-${eventTypes[event].priority}`,
      message: { reference, n, attempt: attemptCount + 1 },
      group: partner,
      delaySeconds: (nextAttemptAt.getTime() - now.getTime()) / 1000,
    },
  ]
}

export const handler = relay(real)
