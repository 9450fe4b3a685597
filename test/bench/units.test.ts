import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect, test } from 'vitest'
import { sendMetered, sizeOf, unitsOfWrite } from '../../bench/units.ts'

/** Units as AWS counts them. */

const small = { pk: 'a', sk: 'a', text: 'x'.repeat(500) }
const large = { pk: 'b', sk: 'b', text: 'x'.repeat(1_500) }
const listed = (byStatus: string) => ({ ...small, byStatus, byTime: '2026' })
const ofCustomer = (status: string) => ({ ...small, byCustomer: 'c', byTime: '2026', status })

describe('an item of a transaction', () => {
  test.each([
    ['counts twice', undefined, small, 2],
    ['counts by the kilobyte', undefined, large, 4],
    ['counts by the larger of what it was and is', large, small, 4],
    ['that is only held to a condition counts as if it were written', large, large, 4],
    ['that is not there counts as a small one', undefined, undefined, 2],
    ['costs a unit more for each entry in an index', undefined, listed('new'), 3],
    ['costs two more where an entry is moved', listed('new'), listed('done'), 4],
    ['costs nothing more where an entry stays', listed('new'), listed('new'), 2],
    ['costs a unit more where a projected attribute changes', ofCustomer('a'), ofCustomer('b'), 3],
    ['costs nothing more where projected attributes stay', ofCustomer('a'), ofCustomer('a'), 2],
    ['costs a unit more where an entry is deleted', listed('new'), small, 3],
    ['is in an index with both its keys only', undefined, { ...small, byTime: '2026' }, 2],
  ])('%s', (_, before, after, units) => {
    expect(unitsOfWrite(before, after)).toBe(units)
  })
})

describe('a call', () => {
  test('that is a transaction counts by its items, as they stood before and after', async () => {
    const stored = new Map([['b', large as object]])
    const send = async (other?: unknown) => {
      if (other) return { Responses: { table: [...stored.values()] } }
      stored.set('a', listed('new'))
      return { done: true }
    }
    const TableName = 'table'
    const command = new TransactWriteCommand({
      TransactItems: [
        { Put: { TableName, Item: listed('new') } },
        { Update: { TableName, Key: { pk: 'b', sk: 'b' }, UpdateExpression: 'SET a = b' } },
      ],
    })
    const { output, units } = await sendMetered(command as never, send)
    expect(output).toEqual({ done: true })
    expect(units).toBe(3 + 4)
  })

  test('of any other kind counts as it is told', async () => {
    const command = new UpdateCommand({ TableName: 'table', Key: { pk: 'a' } })
    const send = async () => ({ ConsumedCapacity: { CapacityUnits: 3 } })
    expect((await sendMetered(command as never, send)).units).toBe(3)
    expect(command.input.ReturnConsumedCapacity).toBe('TOTAL')
  })
})

test.each([
  [{ name: 'text' }, 8],
  [{ n: 1795280397679 }, 9],
  [{ none: null, yes: true }, 9],
  [{ list: ['ab'] }, 4 + 3 + 1 + 2],
  [{ map: { key: 'ab' } }, 3 + 3 + 1 + 3 + 2],
  [{ gone: undefined }, 0],
])('%o has %d bytes', (item, bytes) => {
  expect(sizeOf(item)).toBe(bytes)
})
