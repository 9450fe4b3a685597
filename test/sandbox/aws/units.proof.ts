import { randomUUID } from 'node:crypto'
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { tableDefinition } from '../../../infra/definitions/table.ts'
import { newTable } from '../../../sandbox/aws/table/table.ts'
import { createTable } from '../../../sandbox/localstack/dynamodb-table.ts'
import { localAt } from './two-tables.ts'

// DynamoDB Local reports wrong units for transactions, and none for what it does not find.

const commands = { PutCommand, UpdateCommand, DeleteCommand, GetCommand, QueryCommand } as const
type Call = { name: keyof typeof commands; input: Record<string, unknown> }

const callOf = (name: Call['name'], input: Call['input']): Call => ({ name, input })

const key = fc.record({ pk: fc.constantFrom('p1', 'p2'), sk: fc.constantFrom('a', 'b', 'c') })
const place = fc.constantFrom('x', 'y')

const item = fc
  .record({
    key,
    listed: fc.option(fc.record({ byStatus: place, byTime: place })),
    work: fc.option(fc.record({ work: place, due: place })),
    projected: fc.option(fc.record({ sealedAt: place })),
    text: fc.integer({ min: 1, max: 5_000 }).map((length) => 't'.repeat(length)),
  })
  .map(({ key, listed, work, projected, text }) => ({
    ...key,
    ...listed,
    ...work,
    ...projected,
    text,
  }))

const condition = {
  ConditionExpression: 'attribute_exists(pk)',
  UpdateExpression: 'SET #text = :text',
  ExpressionAttributeNames: { '#text': 'text' },
}

const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 4, arbitrary: item.map((Item) => callOf('PutCommand', { Item })) },
  item.map(({ pk, sk, text }) =>
    callOf('UpdateCommand', {
      Key: { pk, sk },
      ExpressionAttributeValues: { ':text': text },
      ...condition,
    }),
  ),
  key.map((Key) => callOf('DeleteCommand', { Key })),
  key.map((Key) => callOf('GetCommand', { Key, ConsistentRead: true })),
  fc
    .constantFrom('p1', 'p2')
    .map((pk) =>
      callOf('QueryCommand', {
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ConsistentRead: true,
      }),
    ),
  fc
    .constantFrom('by-status', 'work')
    .map((IndexName) =>
      callOf('QueryCommand', {
        IndexName,
        KeyConditionExpression: '#key = :x',
        ExpressionAttributeNames: { '#key': IndexName === 'work' ? 'work' : 'byStatus' },
        ExpressionAttributeValues: { ':x': 'x' },
      }),
    ),
)

test('the in-memory table consumes the units that DynamoDB Local reports', async () => {
  const { endpoint, client } = localAt(inject('dynamoDbLocal'))
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 12 }), async (calls) => {
      const TableName = `units-${randomUUID()}`
      await createTable(endpoint, TableName)
      let consumed = 0
      const table = newTable({
        definition: tableDefinition,
        name: TableName,
        now: () => 0,
        onConsumed: ({ units }) => {
          consumed = units
        },
      })
      for (const { name, input } of calls) {
        const Command = commands[name] as new (input: object) => GetCommand
        const metered = new Command({ ...input, TableName, ReturnConsumedCapacity: 'TOTAL' })
        const [local] = await Promise.allSettled([client.send(metered)])
        const [own] = await Promise.allSettled([
          (async () => table.run(name, { ...input, TableName }))(),
        ])
        expect(own.status).toBe(local.status)
        const units =
          local.status === 'fulfilled' ? local.value.ConsumedCapacity?.CapacityUnits : undefined
        if (units) expect({ name, input, units: consumed }).toEqual({ name, input, units })
      }
    }),
    { numRuns: 60 },
  )
}, 120_000)
