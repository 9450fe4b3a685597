import { expect, test, vi } from 'vitest'
import { newAws } from '../../../sandbox/aws/aws.ts'
import { newSteppedClock } from '../../../sandbox/aws/clock.ts'
import type { Entry } from '../../../sandbox/aws/journal.ts'
import { queueUrl } from '../../../sandbox/aws/queues.ts'
import { restore } from '../../../sandbox/aws/restore.ts'
import { deadLetters } from '../../../shared/queues/messages.ts'

/** The state that a sandbox has after a restart. */

const TableName = 'T'

/** Starts an AWS whose relay never runs, on the entries of an earlier one. */
const started = (earlier: readonly Entry[], now = 0) => {
  const entries: Entry[] = []
  const clock = newSteppedClock(now)
  const invoke = vi.fn(async () => ({ kind: 'failed' as const }))
  const aws = newAws({
    clock,
    tableName: TableName,
    invoke,
    journal: { generation: 1, write: (entry) => entries.push(entry) },
  })
  entries.push(...restore(aws, earlier))
  return { aws, clock, entries, invoke }
}

test('a change that the stream has not delivered keeps its number, also after a second restart', () => {
  const first = started([])
  const Item = (sk: string) => ({ pk: 'p', sk, entity: 'refund' })
  first.aws.perform('PutCommand', { TableName, Item: Item('a') })
  first.aws.perform('PutCommand', { TableName, Item: Item('b') })
  const second = started(first.entries)
  const third = started(second.entries)
  third.aws.perform('PutCommand', { TableName, Item: Item('c') })
  const numbers = third.entries.flatMap((entry) => {
    if ('undelivered' in entry) return [entry.undelivered.sequence]
    return 'changes' in entry ? entry.changes.map(({ sequence }) => sequence) : []
  })
  expect(numbers).toEqual([1, 2, 3])
  expect(third.aws.table.items().map(({ sk }) => sk)).toEqual(['a', 'b', 'c'])
})

test('a dead letter stays one after a restart, until it is deleted', async () => {
  const first = started([])
  const [QueueUrl, MessageBody] = [queueUrl('refunds'), '{}']
  const input = { QueueUrl: deadLetters(QueueUrl) }
  first.aws.perform('SendMessageCommand', { QueueUrl, MessageBody })
  const until = 12 * 3_600_000
  while (first.clock.step(until)) await new Promise(setImmediate)
  // A job that always fails receives it so often.
  expect(first.invoke).toHaveBeenCalledTimes(12)
  const count = ({ aws }: ReturnType<typeof started>) =>
    aws.perform('GetQueueAttributesCommand', input).Attributes
  const one = { ApproximateNumberOfMessages: '1', ApproximateNumberOfMessagesNotVisible: '0' }
  expect(count(first)).toEqual(one)
  const second = started(first.entries, until)
  expect(count(second)).toEqual(one)
  const { Messages } = second.aws.perform('ReceiveMessageCommand', input)
  const [message] = Messages as { ReceiptHandle: string; Body: string }[]
  expect(message?.Body).toBe(MessageBody)
  second.aws.perform('DeleteMessageBatchCommand', {
    ...input,
    Entries: [{ Id: '0', ReceiptHandle: message?.ReceiptHandle }],
  })
  expect(count(started(second.entries, until))).toMatchObject({ ApproximateNumberOfMessages: '0' })
})
