import { expect, test } from 'vitest'
import { newTable } from '../../aws/table/table.ts'
import { tableDefinition } from '../../infra/definitions/table.ts'

const TableName = 'T'
const table = newTable({ definition: tableDefinition, name: TableName, now: () => 0 })
const Key = { pk: 'p', sk: 'a' }
const read = { TableName, KeyConditionExpression: 'pk = :v' }

const unused: readonly (readonly [string, object])[] = [
  ['ScanCommand', { TableName, FilterExpression: 'a = :v' }],
  ['TransactGetCommand', { TransactItems: [{ Get: { TableName, Key } }] }],
  ['GetCommand', { TableName, Key }],
  ['GetCommand', { TableName, Key, ConsistentRead: true, ProjectionExpression: 'a' }],
  ['QueryCommand', read],
  ['UpdateCommand', { TableName, Key, ReturnValues: 'ALL_OLD' }],
  ['DeleteCommand', { TableName, Key, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }],
  ...['a.b = :v', 'a[0] = :v', 'a <> :v', 'a IN (:v)', 'NOT a = :v'].map(deletion),
  ...['contains(a, :v)', 'attribute_type(a, :v)'].map(deletion),
  ...['DELETE a :v', 'SET a = a - :v', 'SET a = size(b, c)'].map(
    (UpdateExpression) => ['UpdateCommand', { TableName, Key, UpdateExpression }] as const,
  ),
]

test.each(unused)(
  'a feature that the product does not use is rejected: %s %j',
  (command, input) => {
    expect(() => table.run(command, input)).toThrow('does not support')
  },
)

function deletion(ConditionExpression: string) {
  return ['DeleteCommand', { TableName, Key, ConditionExpression }] as const
}
