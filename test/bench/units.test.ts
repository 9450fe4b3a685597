import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { expect, test } from 'vitest'
import { sendMetered, unitsOfWrite } from '../../bench/units.ts'

const small = { pk: 'a', sk: 'a', text: 'x'.repeat(500) }
const large = { pk: 'b', sk: 'b', text: 'x'.repeat(1_500) }
const listed = (byStatus: string) => ({ ...small, byStatus, byTime: '2026' })
const ofCustomer = (status: string) => ({ ...small, byCustomer: 'c', byTime: '2026', status })

test.each([
  ['an item counts twice', undefined, small, 2],
  ['an item counts per kilobyte', undefined, large, 4],
  ['an item counts by the larger of its old and new size', large, small, 4],
  ['a missing item counts like a small one', undefined, undefined, 2],
  ['a new index entry adds a unit', undefined, listed('new'), 3],
  ['a moved index entry adds two units', listed('new'), listed('done'), 4],
  ['an unchanged index entry adds nothing', listed('new'), listed('new'), 2],
  ['a changed projected attribute adds a unit', ofCustomer('a'), ofCustomer('b'), 3],
  ['a deleted index entry adds a unit', listed('new'), small, 3],
  ['an item with one of two index keys has no entry', undefined, { ...small, byTime: '2026' }, 2],
])('in a transaction %s', (_, previous, next, units) => {
  expect(unitsOfWrite(previous, next)).toBe(units)
})

test('a transaction counts its items before and after the call, others their capacity', async () => {
  const TableName = 'table'
  const stored = new Map([['b', large as object]])
  const transact = async (other?: unknown) => {
    if (other) return { Responses: { table: [...stored.values()] } }
    stored.set('a', listed('new'))
    return {}
  }
  const update = { TableName, Key: { pk: 'b', sk: 'b' }, UpdateExpression: 'SET a = b' }
  const TransactItems = [{ Put: { TableName, Item: listed('new') } }, { Update: update }]
  const transaction = new TransactWriteCommand({ TransactItems })
  expect((await sendMetered(transaction as never, transact)).units).toBe(3 + 4)
  const single = new UpdateCommand(update)
  const send = async () => ({ ConsumedCapacity: { CapacityUnits: 3 } })
  expect((await sendMetered(single as never, send)).units).toBe(3)
  expect(single.input.ReturnConsumedCapacity).toBe('TOTAL')
})
