import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect, test } from 'vitest'
import { sendMetered, sizeOf, unitsOfWrite } from '../../bench/units.ts'

const small = { pk: 'a', sk: 'a', text: 'x'.repeat(500) }
const large = { pk: 'b', sk: 'b', text: 'x'.repeat(1_500) }
const listed = (byStatus: string) => ({ ...small, byStatus, byTime: '2026' })
const ofCustomer = (status: string) => ({ ...small, byCustomer: 'c', byTime: '2026', status })

describe('units of an item in a transaction', () => {
  test.each([
    ['an item counts twice', undefined, small, 2],
    ['an item counts per kilobyte', undefined, large, 4],
    ['an item counts by the larger of its old and new size', large, small, 4],
    ['an item that is only checked counts like a write', large, large, 4],
    ['a missing item counts like a small one', undefined, undefined, 2],
    ['a new index entry adds a unit', undefined, listed('new'), 3],
    ['a moved index entry adds two units', listed('new'), listed('done'), 4],
    ['an unchanged index entry adds nothing', listed('new'), listed('new'), 2],
    ['a changed projected attribute adds a unit', ofCustomer('a'), ofCustomer('b'), 3],
    ['unchanged projected attributes add nothing', ofCustomer('a'), ofCustomer('a'), 2],
    ['a deleted index entry adds a unit', listed('new'), small, 3],
    ['an item with one of two index keys has no entry', undefined, { ...small, byTime: '2026' }, 2],
  ])('%s', (_, previous, next, units) => {
    expect(unitsOfWrite(previous, next)).toBe(units)
  })
})

describe('units of a call', () => {
  test('a transaction counts its items before and after the call', async () => {
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

  test('any other call counts the consumed capacity of its response', async () => {
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
])('the size of %o is %d bytes', (item, bytes) => {
  expect(sizeOf(item)).toBe(bytes)
})
