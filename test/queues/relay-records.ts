import { SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { Context, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach } from 'vitest'
import { advance, type Debit } from '../../shared/domain/debits/debit.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import { messages } from '../../shared/queues/messages.ts'
import { sqs } from '../../shared/queues/send.ts'
import { queueUrlVariable } from '../../shared/runtime.ts'
import { NOON, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'

for (const queue of Object.keys(messages)) {
  process.env[queueUrlVariable(queue)] = `https://sqs.test/${queue}`
}

/** Accepts every message, and forgets the calls of earlier tests. */
export const mockQueues = () => {
  const calls = mockClient(sqs)
  beforeEach(() => {
    calls.reset()
    calls.on(SendMessageBatchCommand).resolves({})
  })
  return calls
}

type StreamRecord = NonNullable<DynamoDBRecord['dynamodb']>

const image = (item: object) =>
  marshall(item, { removeUndefinedValues: true }) as StreamRecord['NewImage']

export const record = (SequenceNumber: string, next: object, old?: object): DynamoDBRecord => ({
  eventName: old ? 'MODIFY' : 'INSERT',
  dynamodb: {
    SequenceNumber,
    NewImage: image(next),
    ...(old && { OldImage: image(old) }),
  } as StreamRecord,
})

/** Imports the relay late, so that a test can set environment variables first. */
export const runRelay = async (...Records: DynamoDBRecord[]) => {
  const { relay } = await import('../../functions/jobs/relay.ts')
  return relay(still())({ Records } as DynamoDBStreamEvent, {} as Context)
}

export const advanced = (debit: Debit, to: Status): Debit =>
  granted(advance(debit, { to, changes: {}, at: NOON, by: 'x', requestId: 'y' }))
