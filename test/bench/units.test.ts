import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { expect, test } from 'vitest'
import { sizeOf, unitsOf } from '../../bench/units.ts'

/** Write units as AWS counts them. */

const TableName = 'table'
const small = { pk: 'a', text: 'x'.repeat(500) }
const large = { pk: 'b', text: 'x'.repeat(1_500) }

const sent = (TransactItems: object[]) =>
  new TransactWriteCommand({ TransactItems } as TransactWriteCommand['input']) as never

const stored = async () => ({ Item: large })
const never = async () => {
  throw new Error('nothing is to be read')
}

test('in a transaction each item is rounded up by itself, and counts twice', async () => {
  const command = sent([{ Put: { TableName, Item: small } }, { Put: { TableName, Item: small } }])
  const told = [{ CapacityUnits: 2, Table: { CapacityUnits: 2 } }]
  expect(await unitsOf(command, told, never)).toBe(4)
})

test('an update counts by the item that it leaves', async () => {
  const command = sent([{ Update: { TableName, Key: { pk: 'b' } } }])
  expect(await unitsOf(command, [{ CapacityUnits: 4, Table: { CapacityUnits: 4 } }], stored)).toBe(
    4,
  )
})

test('what is written to indexes is added as it is told', async () => {
  const command = sent([{ Put: { TableName, Item: small } }])
  expect(await unitsOf(command, [{ CapacityUnits: 6, Table: { CapacityUnits: 2 } }], never)).toBe(6)
})

test('any other call counts as it is told', async () => {
  const command = new UpdateCommand({ TableName, Key: { pk: 'a' } }) as never
  expect(await unitsOf(command, { CapacityUnits: 3 }, never)).toBe(3)
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
