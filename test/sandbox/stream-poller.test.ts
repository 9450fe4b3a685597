import { randomUUID } from 'node:crypto'
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import type { DynamoDBStreamEvent } from 'aws-lambda'
import { expect, inject, test, vi } from 'vitest'
import { pollStream } from '../../sandbox/stream-poller.ts'
import { createTable } from '../../sandbox/table.ts'

test("the poller keeps each event within Lambda's payload limit", async () => {
  const endpoint = inject('dynamoDbEndpoint')
  const TableName = `test-${randomUUID()}`
  const streamArn = await createTable(endpoint, TableName)
  const client = new DynamoDBClient({ endpoint })
  // JSON escapes double the size.
  const large = { S: '"'.repeat(390_000) }
  const keys = Array.from({ length: 12 }, (_, index) => `item-${index}`)
  for (const pk of keys) {
    const Item = { pk: { S: pk }, sk: { S: pk }, entity: { S: 'debit' }, large }
    await client.send(new PutItemCommand({ TableName, Item }))
  }
  const events: DynamoDBStreamEvent[] = []
  const stop = pollStream(endpoint, {
    streamArn,
    entities: ['debit'],
    batchSize: 100,
    invoke: async (event) => void events.push(event),
    onRecords: () => undefined,
    onFault: () => undefined,
    onLost: () => undefined,
  })
  const receivedKeys = () =>
    events.flatMap(({ Records }) => Records.map(({ dynamodb }) => dynamodb?.Keys?.pk?.S))
  await vi.waitFor(() => expect(receivedKeys()).toEqual(keys), 20_000)
  await stop()
  client.destroy()
  for (const event of events) expect(JSON.stringify(event).length).toBeLessThan(6_291_456)
})
