import { expect, test } from 'vitest'
import { newAws } from '../../../sandbox/aws/aws.ts'
import { newSteppedClock } from '../../../sandbox/aws/clock.ts'
import type { Entry } from '../../../sandbox/aws/journal.ts'
import { restore } from '../../../sandbox/aws/restore.ts'

/** The state that a sandbox has after a restart. */

const TableName = 'T'

/** Starts an AWS whose relay never runs, on the entries of an earlier one. */
const started = (earlier: readonly Entry[]) => {
  const entries: Entry[] = []
  const aws = newAws({
    clock: newSteppedClock(0),
    tableName: TableName,
    invoke: async () => ({ kind: 'failed' }),
    journal: { generation: 1, write: (entry) => entries.push(entry) },
  })
  entries.push(...restore(aws, earlier))
  return { aws, entries }
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
