import {
  ConditionalCheckFailedException,
  IdempotentParameterMismatchException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, test } from 'vitest'
import type { Change } from '../../aws/table/change.ts'
import type { TableOptions } from '../../aws/table/storage.ts'
import { newTable } from '../../aws/table/table.ts'
import { tableDefinition } from '../../infra/definitions/table.ts'

/** Covers what DynamoDB Local cannot show; table.proof.ts covers the rest. */

const TableName = 'T'

const aPut = (sk: string): object => ({ TableName, Item: { pk: 'p', sk } })

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
  const due = (): unknown[] => {
    const { Items } = table.run('QueryCommand', {
      TableName,
      IndexName: 'work',
      KeyConditionExpression: '#work = :work',
      ExpressionAttributeNames: { '#work': 'work' },
      ExpressionAttributeValues: { ':work': 'w' },
    })
    return (Items as { sk: string; due: string }[]).map(({ sk, due }) => `${sk} ${due}`)
  }
  return { clock, table, changes, put, get, due }
}

describe('an index', () => {
  test('shows a change after its lag', () => {
    const { clock, put, get, due } = aTable({ indexLag: () => 100 })
    put('a', { work: 'w', due: '1' })
    expect(get('a')).toBeDefined()
    clock.now += 99
    expect(due()).toEqual([])
    clock.now += 1
    expect(due()).toEqual(['a 1'])
  })

  test('shows a change of a projected attribute after its lag', () => {
    const { clock, put, table } = aTable({ indexLag: () => 100 })
    const failed = (): unknown =>
      table.run('QueryCommand', {
        TableName,
        IndexName: 'by-customer',
        KeyConditionExpression: 'byCustomer = :c',
        FilterExpression: '#status = :failed',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':c': 'c', ':failed': 'failed' },
      }).Items
    const item = { byCustomer: 'c', byTime: '1', amount: 5 }
    put('a', { ...item, status: 'pending', narration: 'not projected' })
    clock.now += 100
    put('a', { ...item, status: 'failed', narration: 'not projected' })
    expect(failed()).toEqual([])
    clock.now += 100
    expect(failed()).toEqual([{ pk: 'p', sk: 'a', ...item, status: 'failed' }])
  })

  test('shows the changes of one item in order, independent of their lags', () => {
    const lags = [100, 10, 10]
    const { clock, put, due } = aTable({ indexLag: () => lags.shift() ?? 0 })
    put('a', { work: 'w', due: '1' })
    put('a', { work: 'w', due: '2' })
    put('b', { work: 'w', due: '3' })
    clock.now += 10
    expect(due()).toEqual(['b 3'])
    clock.now += 90
    expect(due()).toEqual(['a 2', 'b 3'])
  })
})

describe('a client request token', () => {
  const counting = (by: number, condition = {}) => {
    const Update = {
      TableName,
      Key: { pk: 'p', sk: 'a' },
      UpdateExpression: 'ADD n :by',
      ExpressionAttributeValues: { ':by': by },
      ...condition,
    }
    return { ClientRequestToken: 'token', TransactItems: [{ Update }] }
  }

  test('makes a repeat succeed without effect for ten minutes', () => {
    const { clock, table, get } = aTable()
    table.run('TransactWriteCommand', counting(1))
    clock.now += 599_999
    table.run('TransactWriteCommand', counting(1))
    expect(get('a')).toMatchObject({ n: 1 })
    clock.now += 1
    table.run('TransactWriteCommand', counting(1))
    expect(get('a')).toMatchObject({ n: 2 })
  })

  test('belongs to one content', () => {
    const { table } = aTable()
    table.run('TransactWriteCommand', counting(1))
    expect(() => table.run('TransactWriteCommand', counting(2))).toThrow(
      IdempotentParameterMismatchException,
    )
  })

  test('stays unused when its transaction is cancelled', () => {
    const { table, put, get } = aTable()
    const input = counting(1, { ConditionExpression: 'attribute_exists(pk)' })
    expect(() => table.run('TransactWriteCommand', input)).toThrow(TransactionCanceledException)
    put('a')
    table.run('TransactWriteCommand', input)
    expect(get('a')).toMatchObject({ n: 1 })
  })
})

describe('a stored item', () => {
  test('does not change with the object that was written', () => {
    const { put, get } = aTable()
    const list = [{ n: 1 }]
    put('a', { list })
    list[0] = { n: 2 }
    list.push({ n: 3 })
    expect(get('a')).toMatchObject({ list: [{ n: 1 }] })
  })

  test('cannot be changed by its reader at any depth', () => {
    const { table, put, get } = aTable()
    put('a', { map: { list: [{ n: 1 }] }, list: [] })
    table.run('UpdateCommand', {
      TableName,
      Key: { pk: 'p', sk: 'a' },
      UpdateExpression: 'SET #list = list_append(#list, :one)',
      ExpressionAttributeNames: { '#list': 'list' },
      ExpressionAttributeValues: { ':one': [{ n: 1 }] },
    })
    const item = get('a') as { n: number; map: { list: { n: number }[] }; list: object[] }
    const changes = [
      () => Object.assign(item, { n: 2 }),
      () => Object.assign(item.map, { n: 2 }),
      () => item.map.list.push({ n: 2 }),
      () => Object.assign(item.map.list[0] ?? {}, { n: 2 }),
      () => item.list.push({ n: 2 }),
      () => Object.assign(item.list[0] ?? {}, { n: 2 }),
    ]
    for (const change of changes) expect(change).toThrow(TypeError)
  })

  test('has no undefined members at any depth', () => {
    const { put, get } = aTable()
    put('a', { gone: undefined, map: { gone: undefined, n: 1 }, list: [undefined, 1] })
    expect(get('a')).toStrictEqual({ pk: 'p', sk: 'a', map: { n: 1 }, list: [1] })
  })

  const others = [new Date(0), Number.NaN, 2 ** 60, new Set(['a']), () => 1]
  test.each(others)('cannot contain %s', (value) => {
    expect(() => aTable().put('a', { value })).toThrow('The table accepts no')
  })
})

describe('a change', () => {
  test('records its time, its writer and its transaction', () => {
    const by = { name: 'charge', invocation: 7 }
    const { table, changes, put } = aTable({ by: () => by })
    put('a')
    const Put = (sk: string) => ({ Put: { TableName, Item: { pk: 'p', sk, n: 1 } } })
    table.run('TransactWriteCommand', { TransactItems: [Put('a'), Put('b')] })
    const first = { sequence: 1, transaction: 1, at: 1_000, before: undefined, by }
    expect(changes).toEqual([
      { ...first, after: { pk: 'p', sk: 'a' } },
      expect.objectContaining({ sequence: 2, transaction: 2, before: { pk: 'p', sk: 'a' } }),
      expect.objectContaining({ sequence: 3, transaction: 2, before: undefined }),
    ])
  })

  test('is absent if nothing changed', () => {
    const { table, changes, put } = aTable()
    put('a', { map: { list: [1, null] } })
    put('a', { map: { list: [1, null] } })
    table.run('DeleteCommand', { TableName, Key: { pk: 'p', sk: 'b' } })
    expect(changes).toHaveLength(1)
  })

  test('is streamed as the document client marshalls it', () => {
    const { table, changes, put } = aTable()
    const members = { s: '', n: -1.5, zero: 0, yes: true, nil: null, l: [[], { a: ['b'] }], m: {} }
    put('a', members)
    put('a', { n: 2 })
    table.run('DeleteCommand', { TableName, Key: { pk: 'p', sk: 'a' } })
    const records = changes.map(table.streamRecord)
    const before = marshall({ pk: 'p', sk: 'a', ...members })
    const after = marshall({ pk: 'p', sk: 'a', n: 2 })
    const images = records.map(({ eventName, dynamodb }) => [
      eventName,
      dynamodb?.OldImage,
      dynamodb?.NewImage,
    ])
    expect(images).toEqual([
      ['INSERT', undefined, before],
      ['MODIFY', before, after],
      ['REMOVE', after, undefined],
    ])
    const numbers = records.map(({ dynamodb }) => dynamodb?.SequenceNumber ?? '')
    expect(numbers).toEqual([...new Set(numbers)].sort())
  })
})

describe('a rejection', () => {
  test('of a transaction names the reason of each write', () => {
    const { table, put } = aTable()
    put('a', { n: 1 })
    const input = { ...aPut('a'), ConditionExpression: 'attribute_not_exists(pk)' }
    const refusal = caught(() => table.run('PutCommand', input))
    expect(refusal).toBeInstanceOf(ConditionalCheckFailedException)
    const TransactItems = [{ Put: aPut('b') }, { Put: input }]
    const cancelled = caught(() => table.run('TransactWriteCommand', { TransactItems }))
    expect(cancelled).toBeInstanceOf(TransactionCanceledException)
    expect(cancelled).toMatchObject({
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }],
    })
    expect(table.items()).toHaveLength(1)
  })

  test.each([
    ['no write', []],
    ['more than a hundred', Array.from({ length: 101 }, (_, n) => ({ Put: aPut(String(n)) }))],
    ['one item twice', [{ Put: aPut('a') }, { Put: aPut('a') }]],
    ['two kinds at once', [{ Put: aPut('a'), Delete: { TableName, Key: { pk: 'p', sk: 'b' } } }]],
  ])('meets a transaction of %s', (_, TransactItems) => {
    const refusal = caught(() => aTable().table.run('TransactWriteCommand', { TransactItems }))
    expect(refusal).toMatchObject({ name: 'ValidationException' })
  })

  test('meets another table', () => {
    const refusal = caught(() =>
      aTable().table.run('GetCommand', { TableName: 'other', Key: { pk: 'p', sk: 'a' } }),
    )
    expect(refusal).toMatchObject({ name: 'ResourceNotFoundException' })
  })
})

const caught = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    return error
  }
}
