import { expect, test } from 'vitest'
import { refusalOf } from '../../commands/restore-drill/guard.ts'

const copy = 'debit-collection-production-drill-20261127110000'
const allowed = { copy, buckets: ['audit', 'reports'] }
const refused = (name: string, input: object): boolean =>
  refusalOf({ constructor: { name }, input: input as Record<string, unknown> }, allowed) !==
  undefined

const put = (TableName: string) => ({ Put: { TableName, Item: {} } })

test.each([
  ['GetCommand', { TableName: copy }],
  ['BatchGetCommand', { RequestItems: { [copy]: {} } }],
  ['TransactWriteCommand', { TransactItems: [put(copy)] }],
  ['DeleteTableCommand', { TableName: copy }],
  ['RestoreTableToPointInTimeCommand', { SourceTableName: 'debits', TargetTableName: copy }],
  ['DescribeTableCommand', { TableName: 'debits' }],
  ['GetObjectCommand', { Bucket: 'audit' }],
])('a drill may call %s with %j', (name, input) => {
  expect(refused(name, input)).toBe(false)
})

test.each([
  ['GetCommand', { TableName: 'debits' }],
  ['PutCommand', {}],
  ['UpdateCommand', { TableName: 'debits' }],
  ['BatchGetCommand', { RequestItems: { [copy]: {}, debits: {} } }],
  ['TransactWriteCommand', { TransactItems: [put(copy), put('debits')] }],
  ['DeleteTableCommand', { TableName: 'debits' }],
  ['RestoreTableToPointInTimeCommand', { SourceTableName: copy, TargetTableName: 'debits' }],
  ['PutObjectCommand', { Bucket: 'reports' }],
  ['GetObjectCommand', { Bucket: 'lake' }],
  ['GetObjectCommand', {}],
  ['SendMessageCommand', { QueueUrl: 'payments' }],
  ['SendMessageBatchCommand', { QueueUrl: 'webhooks' }],
  ['InvokeCommand', { FunctionName: 'manage-settlement' }],
  ['CreateScheduleCommand', { Name: 'timeout' }],
  ['GetSecretValueCommand', { SecretId: 'sealing-key' }],
])('a drill never calls %s with %j', (name, input) => {
  expect(refused(name, input)).toBe(true)
})
