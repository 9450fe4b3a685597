import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  type KeySchemaElement,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { keyAttributes, tableDefinition } from '../../infra/definitions/table.ts'

const keySchema = (keys: { partitionKey: string; sortKey: string }): KeySchemaElement[] => [
  { AttributeName: keys.partitionKey, KeyType: 'HASH' },
  { AttributeName: keys.sortKey, KeyType: 'RANGE' },
]

/**
 * Creates the table as the stack does.
 * @returns the ARN of its stream
 */
export const createTable = async (endpoint: string, tableName: string): Promise<string> => {
  const client = new DynamoDBClient({ endpoint })
  const { partitionKey, sortKey, timeToLive, indexes } = tableDefinition
  try {
    const { TableDescription } = await client.send(
      new CreateTableCommand({
        TableName: tableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: keyAttributes.map((AttributeName) => ({
          AttributeName,
          AttributeType: 'S',
        })),
        KeySchema: keySchema({ partitionKey, sortKey }),
        GlobalSecondaryIndexes: indexes.map((index) => ({
          IndexName: index.name,
          KeySchema: keySchema(index),
          Projection:
            index.projected.length > 0
              ? { ProjectionType: 'INCLUDE', NonKeyAttributes: [...index.projected] }
              : { ProjectionType: 'KEYS_ONLY' },
        })),
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      }),
    )
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName: tableName,
        TimeToLiveSpecification: { AttributeName: timeToLive, Enabled: true },
      }),
    )
    const streamArn = TableDescription?.LatestStreamArn
    if (!streamArn) throw new Error(`Table ${tableName} has no stream`)
    return streamArn
  } finally {
    client.destroy()
  }
}

export const removeTable = async (endpoint: string, TableName: string): Promise<void> => {
  const client = new DynamoDBClient({ endpoint })
  await client.send(new DeleteTableCommand({ TableName }))
  client.destroy()
}
