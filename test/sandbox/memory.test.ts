import { expect, test } from 'vitest'
import { newAws } from '../../sandbox/aws/aws.ts'
import { newSteppedClock } from '../../sandbox/aws/clock.ts'
import type { Entry } from '../../sandbox/aws/journal.ts'
import { newMemory, untilStopped } from '../../sandbox/memory.ts'

/** The services in memory, which a reset replaces. */

test('an invocation that a reset overtakes writes neither to the new services nor to their journal', async () => {
  const entries: Entry[] = []
  const journal = { generation: 1, write: (entry: Entry) => void entries.push(entry) }
  const memory = newMemory(newSteppedClock(0), (clock) =>
    newAws({
      clock,
      tableName: 'T',
      invoke: async () => ({ kind: 'failed' }),
      journal: untilStopped(journal, clock),
    }),
  )
  const put = (sk: string) =>
    memory.aws().perform('PutCommand', { TableName: 'T', Item: { pk: 'p', sk, entity: 'refund' } })
  const overtaken = Promise.withResolvers<void>()
  const writing = memory.scope(async () => {
    put('before')
    await overtaken.promise
    put('late')
  })
  await Promise.resolve()
  await Promise.resolve()
  expect(memory.aws().table.items()).toHaveLength(1)
  const written = entries.length
  await memory.replace(async () => undefined)
  overtaken.resolve()
  await writing
  expect(memory.aws().table.items()).toEqual([])
  expect(entries).toHaveLength(written)
  put('after')
  expect(entries.length).toBeGreaterThan(written)
})
