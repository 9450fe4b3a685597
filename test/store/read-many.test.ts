import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { BatchGetCommand, type BatchGetCommandInput } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { readMany, table } from '../../shared/store/table.ts'

process.env.TABLE_NAME = 'debits'

const calls = mockClient(table)

const pauses = vi.spyOn(timers, 'setTimeout').mockResolvedValue(undefined)
syncBuiltinESMExports()
afterAll(() => {
  pauses.mockRestore()
  syncBuiltinESMExports()
})

beforeEach(() => {
  calls.reset()
  pauses.mockClear()
})

const requested = Array.from({ length: 30 }, (_, n) => ({ pk: `DEBIT#${n}`, sk: 'DEBIT' }))

/** Returns a number of items for each read, and leaves the others unread. */
const answering = (...counts: readonly number[]): void => {
  let reads = 0
  calls.on(BatchGetCommand).callsFake(({ RequestItems }: BatchGetCommandInput) => {
    const { Keys = [], ...rest } = RequestItems?.debits ?? {}
    const count = counts[reads] ?? counts.at(-1) ?? 0
    reads += 1
    const unread = Keys.slice(count)
    return {
      // DynamoDB returns items in no order.
      Responses: { debits: Keys.slice(0, count).reverse() },
      UnprocessedKeys: unread.length > 0 ? { debits: { ...rest, Keys: unread } } : {},
    }
  })
}

// The items of each read, and the milliseconds between the reads.
test.each([
  ['a complete response needs no pause', [30], []],
  ['a read of unread keys follows a pause', [10, 10, 10], [25, 25]],
  ['each read without an item doubles the pause', [0, 0, 0, 0, 30], [50, 100, 200, 400]],
])(
  'a batch read returns items in the order of its keys, and pauses only for unread ones: %s',
  async (_, counts, expected) => {
    answering(...counts)
    expect(await readMany(requested)).toEqual(requested)
    expect(pauses.mock.calls.map(([milliseconds]) => milliseconds)).toEqual(expected)
    expect(calls.calls()).toHaveLength(counts.length)
  },
)

test('the eighth consecutive read without an item throws a throttling error', async () => {
  answering(0)
  const name = 'ProvisionedThroughputExceededException'
  await expect(readMany(requested)).rejects.toMatchObject({ name })
  expect(calls.calls()).toHaveLength(8)
  expect(pauses.mock.calls.at(-1)?.[0]).toBe(1_000)
})
