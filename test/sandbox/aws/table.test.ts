import {
  IdempotentParameterMismatchException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { expect, test } from 'vitest'
import { tableDefinition } from '../../../infra/definitions/table.ts'
import type { Change } from '../../../sandbox/aws/table/change.ts'
import type { TableOptions } from '../../../sandbox/aws/table/storage.ts'
import { newTable } from '../../../sandbox/aws/table/table.ts'

/** Covers what DynamoDB Local cannot show; table.proof.ts covers the rest. */

const TableName = 'T'
const Key = { pk: 'p', sk: 'a' }

const aTable = (options: Partial<TableOptions> = {}) => {
  const clock = { now: 1_000 }
  const changes: Change[] = []
  const table = newTable({
    definition: tableDefinition,
    name: TableName,
    now: () => clock.now,
    onCommit: (committed) => changes.push(...committed),
    ...options,
  })
  const put = (sk: string, members: object = {}): object =>
    table.run('PutCommand', { TableName, Item: { pk: 'p', sk, ...members } })
  const get = (sk: string): unknown =>
    table.run('GetCommand', { TableName, Key: { pk: 'p', sk }, ConsistentRead: true }).Item
  return { clock, table, changes, put, get }
}

/** Starts a table with these lags, and a query of the customers of one amount. */
const lagging = (...lags: number[]) => {
  const { clock, table, put } = aTable({ indexLag: () => lags.shift() ?? 0 })
  const found = (amount: number): unknown =>
    table.run('QueryCommand', {
      TableName,
      IndexName: 'by-customer',
      KeyConditionExpression: 'byCustomer = :c',
      FilterExpression: 'amount = :amount',
      ExpressionAttributeValues: { ':c': 'c', ':amount': amount },
    }).Items
  const item = { byCustomer: 'c', byTime: '1' }
  return { clock, put, found, item }
}

test('an index shows a change, also of a projected attribute alone, after its lag', () => {
  const { clock, put, found, item } = lagging(100, 100)
  put('a', { ...item, amount: 1, narration: 'not projected' })
  clock.now += 99
  expect(found(1)).toEqual([])
  clock.now += 1
  put('a', { ...item, amount: 2, narration: 'not projected' })
  expect(found(1)).toHaveLength(1)
  clock.now += 100
  expect(found(2)).toEqual([{ pk: 'p', sk: 'a', ...item, amount: 2 }])
})

test('an index shows the changes of one item in order, independent of their lags', () => {
  const { clock, put, found, item } = lagging(100, 10, 10)
  put('a', { ...item, amount: 1 })
  put('a', { ...item, amount: 2 })
  put('b', { ...item, amount: 2 })
  clock.now += 10
  expect(found(2)).toMatchObject([{ sk: 'b' }])
  clock.now += 90
  expect(found(2)).toMatchObject([{ sk: 'a' }, { sk: 'b' }])
})

test('a request token makes a repeat succeed without effect for ten minutes', () => {
  const { clock, table, put, get } = aTable()
  const add = (by: number) => {
    const UpdateExpression = 'ADD n :by'
    const ConditionExpression = 'attribute_exists(pk)'
    const ExpressionAttributeValues = { ':by': by }
    const Update = { TableName, Key, UpdateExpression, ConditionExpression }
    const TransactItems = [{ Update: { ...Update, ExpressionAttributeValues } }]
    table.run('TransactWriteCommand', { ClientRequestToken: 'token', TransactItems })
  }
  // A cancelled transaction leaves its token unused.
  expect(() => add(1)).toThrow(TransactionCanceledException)
  put('a')
  add(1)
  clock.now += 599_999
  add(1)
  expect(get('a')).toMatchObject({ n: 1 })
  expect(() => add(2)).toThrow(IdempotentParameterMismatchException)
  clock.now += 1
  add(1)
  expect(get('a')).toMatchObject({ n: 2 })
})

test('no writer or reader can change a stored item at any depth', () => {
  const { put, get } = aTable()
  const list = [{ n: 1 }]
  put('a', { map: { list } })
  list.push({ n: 3 })
  Object.assign(list[0] ?? {}, { n: 2 })
  const item = get('a') as { map: { list: { n: number }[] } }
  expect(item).toEqual({ ...Key, map: { list: [{ n: 1 }] } })
  for (const part of [item, item.map, item.map.list, item.map.list[0]]) {
    expect(() => Object.assign(part ?? {}, { n: 2 })).toThrow(TypeError)
  }
})

test('a change has its time, its writer, its transaction and an increasing number', () => {
  const by = { name: 'charge', invocation: 7 }
  const { table, changes, put } = aTable({ by: () => by })
  put('a')
  const Put = (sk: string) => ({ Put: { TableName, Item: { pk: 'p', sk, n: 1 } } })
  table.run('TransactWriteCommand', { TransactItems: [Put('a'), Put('b')] })
  const first = { sequence: 1, transaction: 1, at: 1_000, before: undefined, by }
  expect(changes).toEqual([
    { ...first, after: Key },
    expect.objectContaining({ sequence: 2, transaction: 2, before: Key }),
    expect.objectContaining({ sequence: 3, transaction: 2, before: undefined }),
  ])
  const numbers = changes.map((change) => table.streamRecord(change).dynamodb?.SequenceNumber ?? '')
  expect(numbers).toEqual([...new Set(numbers)].sort())
})

test('each change is streamed as the document client marshalls it, and no write without one', () => {
  const { table, changes, put } = aTable()
  const members = { s: '', n: -1.5, zero: 0, yes: true, nil: null, l: [[], { a: ['b'] }], m: {} }
  for (const next of [members, members, { n: 2 }]) put('a', next)
  for (const _ of [1, 2]) table.run('DeleteCommand', { TableName, Key })
  const [before, after] = [
    { ...Key, ...members },
    { ...Key, n: 2 },
  ].map((item) => marshall(item))
  const records = changes.map(table.streamRecord)
  expect(records.map(({ eventName, dynamodb }) => [eventName, dynamodb])).toMatchObject([
    ['INSERT', { Keys: marshall(Key), NewImage: before }],
    ['MODIFY', { Keys: marshall(Key), OldImage: before, NewImage: after }],
    ['REMOVE', { Keys: marshall(Key), OldImage: after }],
  ])
})

test.each([
  ['one long text', { text: 'x'.repeat(409_600) }],
  ['many texts', { rows: Array.from({ length: 500 }, () => 'x'.repeat(1_000)) }],
])('an item above 400 KB is refused: %s', (_, members) => {
  const { put, table } = aTable()
  expect(() => put('a', members)).toThrow('Item size')
  put('a')
  const [[name, value] = []] = Object.entries(members)
  const update = () =>
    table.run('UpdateCommand', {
      ...{ TableName, Key },
      UpdateExpression: 'SET #name = :value',
      ExpressionAttributeNames: { '#name': name },
      ExpressionAttributeValues: { ':value': value },
    })
  expect(update).toThrow('Item size')
})
